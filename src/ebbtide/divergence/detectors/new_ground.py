"""New ground among the actions that agents state.

New ground is a search that was not made before, or a site or a file that was not open before. Whatever else
is stated goes over known ground: a click or a page further on a known site, an opening that fails, an agent
that answers an order without any action, an order that nobody answers. A look at one more result of a search
is neither, and so is one more field of a form that is filled in.

A few such steps are work, such as reading a page to its end. Where they go on, agents are stuck more often
than not, says the orchestrator that leads them (`python -m benchmarks.quality.ledgers`).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from ebbtide.codec import State
from ebbtide.engine_state import PackedKeys
from ebbtide.events.identity import Key, key_of
from ebbtide.events.outcome import Ending, outcome_of
from ebbtide.events.stated_actions import StatedAction

_KNOWN = 256  # places and searches that are known again
TYPE: Final = "type"  #: the verb of what is typed in
_SEARCHES: Final = frozenset(("search", TYPE))


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

    __slots__ = ("_memory", "has_begun", "steps")

    steps: int
    has_begun: bool
    _memory: PackedKeys

    def __init__(self) -> None:
        self._memory = {}
        self.steps = 0
        self.has_begun = False

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
        is_open = action.place is None or action.shows_results or action.verb == TYPE
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
