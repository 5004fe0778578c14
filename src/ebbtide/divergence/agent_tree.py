"""The agents of one session as a tree: who was started by whom, and with which order."""

from __future__ import annotations

from typing import Final, NamedTuple

from ebbtide.codec import State
from ebbtide.events.identity import Key, key_of

_KEPT: Final = 1_024  # orders, and chains, that are known; from there on new ones are not
_LONG: Final = 80  # characters from which an order is not given twice by accident


class AgentStart(NamedTuple):
    """An agent that was started.

    Args:
        order: Key of its order.
        equal: Agents of the session that were started with it, this one included.
        depth: Its level, as far as the agents above it are known: 1 where the first agent starts it.
        is_handed_down: Whether one of those had been given the same order, and no person gave it.
        is_passed_on: Likewise, whoever gave it.
    """

    order: Key
    equal: int
    depth: int
    is_handed_down: bool
    is_passed_on: bool


class AgentTree(State):
    """Orders by how often they were given, and for each chain those of the agents above it and its own."""

    _equal: dict[Key, int] = {}
    _lines: dict[Key, tuple[Key, ...]] = {}  # by the latest order, those above it
    _given: dict[str, tuple[Key, ...]] = {}
    _people: set[str] = set()  # chains whose order is that of a person, as far as is known

    def begin(self, chain: str, order: str, *, is_by_person: bool) -> None:
        """A chain begins with an order."""
        if chain in self._given or len(self._given) >= _KEPT:
            return
        key = order_key(order)
        above = self._lines.get(key)
        self._given[chain] = (*(above or ()), key)
        if above is None and is_by_person:
            self._people.add(chain)

    def start(self, chain: str, order: str) -> AgentStart:
        """An agent of a chain starts another one."""
        key = order_key(order)
        above = self._given.get(chain, ())
        if key in self._equal or len(self._equal) < _KEPT:
            self._equal[key] = self._equal.get(key, 0) + 1
            self._lines[key] = above
        is_passed_on = key in above and len(order) >= _LONG
        return AgentStart(
            order=key,
            equal=self._equal.get(key, 1),
            depth=self.depth_below(chain),
            is_handed_down=is_passed_on and chain not in self._people,
            is_passed_on=is_passed_on,
        )

    def depth_below(self, chain: str) -> int:
        """Returns the level of an agent that a chain starts, as far as it is known: 1 for the first."""
        return max(1, len(self._given.get(chain, ())))


def order_key(order: str) -> Key:
    """Returns what stands for an order, whatever its blanks."""
    return key_of(" ".join(order.split()))
