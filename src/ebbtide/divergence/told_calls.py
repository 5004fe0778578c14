"""What agents tell of their actions, as calls for the loop rules, where nobody recorded the calls.

What agents tell weighs less than what was recorded: whatever the rules find is a suspicion, and says so.

A page that is told is known again by its title, its address and the part of it that is seen. What it shows
is mostly read by a model from a picture, and comes in other words each time: only where few words are the
same it is another view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from zlib import crc32

from ebbtide.divergence.detectors.near_duplicates import share, words_of
from ebbtide.divergence.detectors.new_ground import TYPE, Ground, NewGround
from ebbtide.divergence.detectors.repetition import Repetition
from ebbtide.divergence.detectors.speech import may_tell
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding, LoopRegistry
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import ModelCall, ModelPart, ToolCall
from ebbtide.events.identity import Key, key_of
from ebbtide.events.told_actions import ToldAction, ordered_agent, told_action
from ebbtide.profile.divergence import LoopRules

_ALIKE = 0.4  # of the words of two views of one page from which they are the same view
_VIEWS = 32  # pages whose latest view is known
_TOOLS = 8  # actions that a stretch names
_READ = 400  # characters of an order that are compared

Take = Callable[[ToolCall, None], Finding | None]  # a told call has no declaration


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


class ToldCalls:
    """The actions that the agents of one chain tell, and the orders that they are given.

    Args:
        rules: The thresholds.
        registry: The loops of the chain.
        repetition: Its calls.
        recorded: The agents whose calls are recorded: what they tell of them is no second call.
        take: Takes a call for the loop rules of the chain, and notes its agent in `recorded`.

    Attributes:
        ground: The steps since the actions last led to new ground.
    """

    __slots__ = (
        "_first_event",
        "_is_unanswered",
        "_order",
        "_recorded",
        "_registry",
        "_repetition",
        "_rules",
        "_take",
        "_tools",
        "_views",
        "ground",
    )

    def __init__(
        self,
        rules: LoopRules,
        registry: LoopRegistry,
        repetition: Repetition,
        recorded: dict[str | None, None],
        take: Take,
    ) -> None:
        self._rules = rules
        self._registry = registry
        self._repetition = repetition
        self._recorded = recorded
        self._take = take
        self.ground = NewGround()
        self._views: dict[int, _View] = {}
        self._order: _Order | None = None
        self._is_unanswered = False  # the latest order
        self._first_event = 0  # of the steps over known ground
        self._tools: dict[str, None] = {}  # that they name

    def reset(self) -> None:
        """Another task, or another run."""
        self.ground.reset()
        self._tools.clear()
        self._order, self._is_unanswered = None, False

    @property
    def steps(self) -> int:
        """Steps over known ground, a latest order that nobody has answered yet among them."""
        return self.ground.steps + (self._is_unanswered and self.ground.has_begun)

    def see(self, call: ModelCall, event: int) -> Finding | None:
        """Take what an agent says, in the event of that number."""
        text, agent = call.text, call.agent
        if not text or call.part is not ModelPart.WHOLE:
            return None
        if not self._is_unanswered and not may_tell(text, agent):
            return None
        target = ordered_agent(agent)
        if target is not None:
            return self._ordered(target, text, event)
        if self._recorded and (agent in self._recorded or None in self._recorded):
            return None
        action = told_action(text)
        if action is None:
            return self._answered(agent, event)
        self._is_unanswered = False
        answers = self._repetition.answers
        before = answers.latest_news
        deed = ToolCall(name=action.verb, args=action.target, result=self._result(action), agent=agent)
        finding = self._take(deed, None)
        self._recorded.pop(agent, None)  # the call was told
        if answers.latest_news != before:
            self._order = None
        step = self._step(action, event)
        return step if finding is None or finding is CARRIED_ON else _suspected(finding)

    def _ordered(self, target: str, text: str, event: int) -> Finding | None:
        finding = self._step(None, event) if self._is_unanswered else None
        self._is_unanswered = True
        words, before = words_of(text[:_READ]), self._order
        if before is None or before.agent != target or share(before.words, words) < self._rules.shared_words:
            self._order = _Order(target, words, 1, event)
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
            event,
        )

    def _answered(self, agent: str | None, event: int) -> Finding | None:
        """An agent answers its order without telling any action."""
        if self._order is not None and agent == self._order.agent:
            self._is_unanswered = False
            return self._step(None, event)
        return None

    def _step(self, action: ToldAction | None, event: int) -> Finding | None:
        """Take a step; None for an agent that answers without any action, or not at all."""
        ground, tools = self.ground, self._tools
        if action is None and not ground.has_begun:
            return None
        if ground.see(action) is not Ground.KNOWN:
            if not ground.steps:
                tools.clear()
            return None
        if ground.steps == 1:
            self._first_event = event
        if len(tools) < _TOOLS:
            tools["answer" if action is None else action.verb] = None
        least = self._rules.known_ground
        if least is None or ground.steps < least:
            return None
        key = key_of(LoopKind.KNOWN_GROUND)
        return self._finding(
            LoopKind.KNOWN_GROUND, key, tuple(tools), ground.steps, least, self._first_event, event
        )

    def _finding(  # noqa: PLR0917
        self, kind: LoopKind, key: Key, tools: tuple[str, ...], count: int, at: int, first: int, event: int
    ) -> Finding | None:
        now = self._repetition.calls
        finding = self._registry.streak(
            kind, key, "", count=count, at=at, first=first, now=now, event=event, is_proof=False
        )
        if finding is CARRIED_ON:
            return CARRIED_ON
        finding.tools, finding.tool = tools, None
        return _suspected(finding)

    def _result(self, action: ToldAction) -> str:
        """What came of an action, so that the same is equal."""
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

    def to_state(self) -> dict[str, Any]:
        """All that later findings depend on."""
        order = self._order
        return {
            "ground": self.ground.to_state(),
            "views": [[place, view.number, sorted(view.words)] for place, view in self._views.items()],
            "order": None if order is None else [order.agent, sorted(order.words), *order[2:]],
            "latest": [self._is_unanswered, self._first_event, list(self._tools)],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` gave."""
        self.ground.restore(state["ground"])
        self._views = {place: _View(number, frozenset(words)) for place, number, words in state["views"]}
        if state["order"] is not None:
            agent, words, *rest = state["order"]
            self._order = _Order(agent, frozenset(words), *rest)
        self._is_unanswered, self._first_event, tools = state["latest"]
        self._tools = dict.fromkeys(tools)


def _suspected(finding: Finding) -> Finding:
    """The same as a suspicion that says what it rests on."""
    finding.is_proof, finding.is_told, finding.step = False, True, None
    return finding
