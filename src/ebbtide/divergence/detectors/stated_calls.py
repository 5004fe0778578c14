"""Calls for the loop rules, made of the actions that agents state, where nobody recorded the calls.

What agents state weighs less than what was recorded: whatever the rules find is a suspicion, and says so.

A page that is stated is known again by its title, its address and the part of it that is seen. What it shows
is mostly read by a model from a picture, and comes in other words each time: only where few words are the
same it is another view.

New ground is a search that was not made before, or a site or a file that was not open before. Whatever else
is stated goes over known ground: a click or a page further on a known site, an opening that fails, an agent
that answers an order without any action, an order that nobody answers. A look at one more result of a search
is neither, and so is one more field of a form that is filled in. A few such steps are work, such as reading a
page to its end. Where they go on, agents are stuck more often than not, says the orchestrator that leads them
(`python -m benchmarks.quality.ledgers`).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple
from zlib import crc32

from ebbtide.bounded import Bounded
from ebbtide.codec import State
from ebbtide.divergence.chain_memory import ChainMemory
from ebbtide.divergence.detectors.speech import may_tell
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import share, words_of
from ebbtide.engine_state import PackedKeys
from ebbtide.events.event import ModelCall, ModelPart, ToolCall
from ebbtide.events.identity import Key, key_of
from ebbtide.events.outcome import Ending, outcome_of
from ebbtide.events.stated_actions import StatedAction, ordered_agent, stated_action
from ebbtide.profile.loop_kinds import LoopKind

_ALIKE = 0.4  # of the words of two views of one page from which they are the same view
_VIEWS = 32  # pages whose latest view is known
_TOOLS = 8  # actions that a stretch names
_READ = 400  # characters of an order that are compared
_KNOWN = 256  # places and searches that are known again
_TYPE: Final = "type"  #: the verb of what is typed in
_SEARCHES: Final = frozenset(("search", _TYPE))


class Ground(StrEnum):
    """Ground that a step led to."""

    NEW = "new"  #: a new search, a new site, a new file
    OPEN = "open"  #: a look at a result, something typed in, or an action of which no page is stated
    KNOWN = "known"  #: anything else


class NewGround(State):
    """The steps since one last led to new ground.

    Attributes:
        steps: Steps over known ground since then.
        has_begun: Whether an action was ever stated.
    """

    steps: int = 0
    has_begun: bool = False
    _memory: PackedKeys = {}

    def reset(self) -> None:
        """Another task: what is known stays known."""
        self.steps = 0

    def see(self, action: StatedAction | None) -> Ground:
        """Take a step, and say where it led.

        Args:
            action: What was stated; None where an agent answered without any, or not at all.
        """
        ground = Ground.KNOWN if action is None else self._ground(action)
        if ground is Ground.NEW:
            self.steps = 0
        elif ground is Ground.KNOWN:
            self.steps += 1
        return ground

    def _ground(self, action: StatedAction) -> Ground:
        self.has_begun = True
        is_new, *is_new_place = [self._is_new(key) for key in _keys(action)]
        if _is_failed(action):
            return Ground.KNOWN
        if action.shows_results and action.verb in _SEARCHES:
            return Ground.NEW if is_new else Ground.KNOWN
        if any(is_new_place) and not action.shows_results:
            return Ground.NEW
        is_open = action.place is None or action.shows_results or action.verb == _TYPE
        return Ground.OPEN if is_open and is_new else Ground.KNOWN

    def _is_new(self, key: Key) -> bool:
        """True if a key comes for the first time; it is known from now on."""
        if key in self._memory:
            return False
        if len(self._memory) >= _KNOWN:
            del self._memory[next(iter(self._memory))]
        self._memory[key] = None
        return True


def _keys(action: StatedAction) -> Iterator[Key]:
    """Keys of the action itself and of the place that it led to."""
    yield key_of("action", action.verb, action.target)
    if action.place is not None:
        yield key_of("place", action.place)


def _is_failed(action: StatedAction) -> bool:
    outcome = outcome_of(f"{action.title or ''}\n{action.content}")
    return outcome is not None and outcome.ending is Ending.FAILED


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

    ground: NewGround
    _views: Bounded[int, _View] = Bounded(_VIEWS)
    _order: _Order | None = None
    _is_unanswered: bool = False  # the latest order
    _first_event: int = 0  # of the steps over known ground
    _tools: dict[str, None] = {}  # that they name

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__()
        self._memory = memory
        self._rules = memory.rules
        self.ground = NewGround()

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
        if not self.ground.has_begun:
            return finding
        return finding or self._finding(
            moment,
            LoopKind.REPEATED_ORDER,
            target,
            tools=(f"order to {target}",),
            count=order.times,
            at=self._rules.same_orders,
            first=order.first_event,
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
        return self._finding(
            moment,
            LoopKind.KNOWN_GROUND,
            tools=tuple(tools),
            count=ground.steps,
            at=self._rules.known_ground,
            first=self._first_event,
        )

    def _finding(
        self,
        moment: Moment,
        kind: LoopKind,
        *parts: str,
        tools: tuple[str, ...],
        count: int,
        at: int | None,
        first: int,
    ) -> Finding | None:
        moment.name, moment.now = "", self._memory.repetition.calls
        finding = self._memory.registry.streak(moment, kind, *parts, count=count, at=at, first=first)
        if finding is None or finding is CARRIED_ON:
            return finding
        finding.tools, finding.tool = tools, None
        return _suspected(finding)

    def _result(self, action: StatedAction) -> str:
        """Returns the result of an action as a text, so that equal results are equal texts."""
        page = action.page
        if page is None:
            return action.content
        typed = action.target if action.verb == _TYPE else ""  # it stands on the page now
        sight = f"{page} {action.position or ''} {typed}"
        words = words_of(action.content)
        place = crc32(sight.encode("utf-8", "surrogatepass"))
        before = self._views.pop(place, None)
        if before is None:
            view = _View(0, words)
        else:
            view = _View(before.number + (share(before.words, words) < _ALIKE), words)
        self._views[place] = view
        return f"{sight} {view.number}" if view.number else sight


def _suspected(finding: Finding) -> Finding:
    """The same as a suspicion that says what it rests on."""
    finding.is_proof, finding.is_stated, finding.step = False, True, None
    return finding
