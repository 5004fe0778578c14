"""Calls for the loop rules, made of the actions that agents state, where nobody recorded the calls.

What agents state weighs less than what was recorded: whatever the rules find is a suspicion, and says so.

A page that is stated is known again by its title, its address and the part of it that is seen. What it shows
is mostly read by a model from a picture, and comes in other words each time: only where few words are the
same it is another view.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

from ebbtide.codec import State
from ebbtide.divergence.chain_memory import ChainMemory
from ebbtide.divergence.detectors.new_ground import TYPE, Ground, NewGround
from ebbtide.divergence.detectors.speech import may_tell
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import share, words_of
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import ModelCall, ModelPart, ToolCall
from ebbtide.events.identity import Key, key_of
from ebbtide.events.stated_actions import StatedAction, ordered_agent, stated_action

_ALIKE = 0.4  # of the words of two views of one page from which they are the same view
_VIEWS = 32  # pages whose latest view is known
_TOOLS = 8  # actions that a stretch names
_READ = 400  # characters of an order that are compared


class _View(NamedTuple):
    """The latest view of a page: its number, and its words."""

    number: int
    words: frozenset[int]


class _Order(NamedTuple):
    """The latest order: to whom, its words, how often it came nearly the same, and since when."""

    agent: str
    words: frozenset[int]
    times: int
    first_event: int


class StatedCalls(State):
    """The actions that the agents of one chain tell, and the orders that they are given.

    Args:
        memory: What the detectors of the chain share.

    Attributes:
        ground: The steps since the actions last led to new ground.
    """

    __slots__ = (
        "_first_event",
        "_is_unanswered",
        "_memory",
        "_order",
        "_rules",
        "_tools",
        "_views",
        "ground",
    )

    ground: NewGround
    _views: dict[int, _View]
    _order: _Order | None
    _is_unanswered: bool  # the latest order
    _first_event: int  # of the steps over known ground
    _tools: dict[str, None]  # that they name

    def __init__(self, memory: ChainMemory) -> None:
        self._memory = memory
        self._rules = memory.rules
        self.ground = NewGround()
        self._views = {}
        self._order = None
        self._is_unanswered = False
        self._first_event = 0
        self._tools = {}

    def reset(self) -> None:
        """Another task, or another run."""
        self.ground.reset()
        self._tools.clear()
        self._order, self._is_unanswered = None, False

    @property
    def steps(self) -> int:
        """Steps over known ground, a latest order that nobody has answered yet among them."""
        return self.ground.steps + (self._is_unanswered and self.ground.has_begun)

    def see(self, call: ModelCall, moment: Moment) -> Finding | None:
        """Take what an agent says."""
        recorded = self._memory.callers
        text, agent = call.text, call.agent
        if not text or call.part is not ModelPart.WHOLE:
            return None
        if not self._is_unanswered and not may_tell(text, agent):
            return None
        target = ordered_agent(agent)
        if target is not None:
            return self._ordered(target, text, moment)
        if recorded and (agent in recorded or None in recorded):
            return None
        action = stated_action(text)
        if action is None:
            return self._answered(agent, moment)
        self._is_unanswered = False
        answers = self._memory.repetition.answers
        before = answers.latest_news
        deed = ToolCall(name=action.verb, args=action.target, result=self._result(action), agent=agent)
        finding = self._memory.take_deed(deed)
        recorded.pop(agent, None)  # the call was stated
        if answers.latest_news != before:
            self._order = None
        step = self._step(action, moment)
        return step if finding is None or finding is CARRIED_ON else _suspected(finding)

    def _ordered(self, target: str, text: str, moment: Moment) -> Finding | None:
        finding = self._step(None, moment) if self._is_unanswered else None
        self._is_unanswered = True
        words, before = words_of(text[:_READ]), self._order
        if before is None or before.agent != target or share(before.words, words) < self._rules.shared_words:
            self._order = _Order(target, words, 1, moment.number)
            return finding
        self._order = order = before._replace(words=words, times=before.times + 1)
        least = self._rules.same_orders
        if not self.ground.has_begun or least is None or order.times < least:
            return finding
        key = key_of(LoopKind.REPEATED_ORDER, target)
        return finding or self._finding(
            LoopKind.REPEATED_ORDER,
            key,
            (f"order to {target}",),
            order.times,
            least,
            order.first_event,
            moment,
        )

    def _answered(self, agent: str | None, moment: Moment) -> Finding | None:
        """An agent answers its order without stating any action."""
        if self._order is not None and agent == self._order.agent:
            self._is_unanswered = False
            return self._step(None, moment)
        return None

    def _step(self, action: StatedAction | None, moment: Moment) -> Finding | None:
        """Take a step; None for an agent that answers without any action, or not at all."""
        ground, tools = self.ground, self._tools
        if action is None and not ground.has_begun:
            return None
        if ground.see(action) is not Ground.KNOWN:
            if not ground.steps:
                tools.clear()
            return None
        if ground.steps == 1:
            self._first_event = moment.number
        if len(tools) < _TOOLS:
            tools["answer" if action is None else action.verb] = None
        least = self._rules.known_ground
        if least is None or ground.steps < least:
            return None
        key = key_of(LoopKind.KNOWN_GROUND)
        return self._finding(
            LoopKind.KNOWN_GROUND, key, tuple(tools), ground.steps, least, self._first_event, moment
        )

    def _finding(  # noqa: PLR0917
        self,
        kind: LoopKind,
        key: Key,
        tools: tuple[str, ...],
        count: int,
        at: int,
        first: int,
        moment: Moment,
    ) -> Finding | None:
        moment.name, moment.now = "", self._memory.repetition.calls
        finding = self._memory.registry.streak(kind, key, moment, count=count, at=at, first=first)
        if finding is CARRIED_ON:
            return CARRIED_ON
        finding.tools, finding.tool = tools, None
        return _suspected(finding)

    def _result(self, action: StatedAction) -> str:
        """Returns the result of an action as a text, so that equal results are equal texts."""
        page = action.page
        if page is None:
            return action.content
        typed = action.target if action.verb == TYPE else ""  # it stands on the page now
        sight = f"{page} {action.position or ''} {typed}"
        words = words_of(action.content)
        place = crc32(sight.encode("utf-8", "surrogatepass"))
        before = self._views.pop(place, None)
        if before is None:
            view = _View(0, words)
        else:
            view = _View(before.number + (share(before.words, words) < _ALIKE), words)
        if len(self._views) >= _VIEWS:
            del self._views[next(iter(self._views))]
        self._views[place] = view
        return f"{sight} {view.number}" if view.number else sight


def _suspected(finding: Finding) -> Finding:
    """The same as a suspicion that says what it rests on."""
    finding.is_proof, finding.is_stated, finding.step = False, True, None
    return finding
