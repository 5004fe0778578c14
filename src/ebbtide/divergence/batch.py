"""Calls that were asked for at once: the same one several times is one call, and no loop."""

from __future__ import annotations

from typing import Any

from ebbtide.engine_state import pack_keys, unpack_keys
from ebbtide.events.identity import Key, settled

_CALLS = 64  # of one batch that are distinguished
_AT_ONCE = 8  # equal calls of one turn that a model may ask for; with more, turns are miscounted


class Batch:
    """The calls of one chain that were asked for at once, by the number that their caller gave or by turn."""

    __slots__ = ("_copies", "_name")

    def __init__(self) -> None:
        self._name: str | int | None = None
        self._copies: dict[Key, int] = {}

    def has(self, key: Key, number: str | int | None, turn: int | None) -> bool:
        """Whether a call was counted already, since it was asked for several times at once.

        Args:
            key: Of the call.
            number: Of its batch, as its caller gave it; None where it gave none.
            turn: Of the model, where somebody counts them.
        """
        if number is not None:
            return self._has(key, number)
        # Turns are numbered apart from what callers number.
        return turn is not None and self._has(key, ~turn) and self._copies[key] <= _AT_ONCE

    def _has(self, key: Key, name: str | int) -> bool:
        copies = self._copies
        if name != self._name:
            self._name = name
            copies.clear()
        count = copies.get(key, 0)
        if count or len(copies) < _CALLS:
            copies[key] = count + 1
        return count > 0

    def to_state(self) -> list[Any]:
        """All that later calls depend on."""
        return [self._name, pack_keys(list(map(settled, self._copies))), list(self._copies.values())]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        self._name, keys, counts = state
        self._copies = dict(zip(unpack_keys(keys), counts, strict=True))
