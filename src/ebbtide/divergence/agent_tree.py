"""The agents of one session as a tree: who was started by whom, and with which order."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ebbtide.events.identity import Key, key_of

_KEPT: Final = 1_024  # orders, and chains, that are known; from there on new ones are not
_LONG: Final = 80  # characters from which an order is not given twice by accident


class Start(NamedTuple):
    """An agent that was started.

    Args:
        order: Key of its order.
        equal: Agents of the session that were started with it, this one included.
        depth: Agents above it.
        is_handed_down: Whether one of those had been given the same order, and no person gave it.
        is_passed_on: Likewise, whoever gave it.
    """

    order: Key
    equal: int
    depth: int
    is_handed_down: bool
    is_passed_on: bool


class AgentTree:
    """Orders by how often they were given, and for each chain those of the agents above it and its own."""

    __slots__ = ("_equal", "_given", "_lines", "_people")

    def __init__(self) -> None:
        self._equal: dict[Key, int] = {}
        self._lines: dict[Key, tuple[Key, ...]] = {}  # by the latest order, those above it
        self._given: dict[str, tuple[Key, ...]] = {}
        self._people: set[str] = set()  # chains whose order is that of a person, as far as is known

    def begin(self, chain: str, order: str, *, is_by_person: bool) -> None:
        """A chain begins with an order."""
        if chain in self._given or len(self._given) >= _KEPT:
            return
        key = order_key(order)
        above = self._lines.get(key)
        self._given[chain] = (*(above or ()), key)
        if above is None and is_by_person:
            self._people.add(chain)

    def start(self, chain: str, order: str) -> Start:
        """An agent of a chain starts another one."""
        key = order_key(order)
        above = self._given.get(chain, ())
        if key in self._equal or len(self._equal) < _KEPT:
            self._equal[key] = self._equal.get(key, 0) + 1
            self._lines[key] = above
        is_passed_on = key in above and len(order) >= _LONG
        depth = len(above) + (chain not in self._people)
        return Start(
            order=key,
            equal=self._equal.get(key, 1),
            depth=depth if above else 1,
            is_handed_down=is_passed_on and chain not in self._people,
            is_passed_on=is_passed_on,
        )

    def to_state(self) -> list[Any]:
        """All that later answers depend on."""
        return [
            {key.hex(): count for key, count in self._equal.items()},
            {key.hex(): [item.hex() for item in above] for key, above in self._lines.items()},
            {chain: [item.hex() for item in given] for chain, given in self._given.items()},
            sorted(self._people),
        ]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        equal, lines, given, people = state
        self._equal = {bytes.fromhex(key): count for key, count in equal.items()}
        self._lines = {bytes.fromhex(key): tuple(map(bytes.fromhex, above)) for key, above in lines.items()}
        self._given = {chain: tuple(map(bytes.fromhex, keys)) for chain, keys in given.items()}
        self._people = set(people)


def order_key(order: str) -> Key:
    """Returns what stands for an order, whatever its blanks."""
    return key_of(" ".join(order.split()))
