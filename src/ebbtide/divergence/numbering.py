"""Events and calls that count once: by the number of an event, and by the batch of a call."""

from __future__ import annotations

from ebbtide.codec import State
from ebbtide.events.identity import Key, SettledKey

_CALLS = 64  # of one batch that are distinguished
_AT_ONCE = 8  # equal calls of one turn that a model may ask for; with more, turns are miscounted


class Batch(State):
    """The calls of one chain that were asked for at once, by the number that their caller gave or by turn."""

    _name: str | int | None = None
    _copies: dict[SettledKey, int] = {}
    _has_failed: bool = False

    def has(self, key: Key, number: str | int | None, turn: int | None) -> bool:
        """True if a call was counted already, since it was asked for several times at once.

        Args:
            key: Of the call.
            number: Of its batch, as its caller gave it; None where it gave none.
            turn: Of the model, where somebody counts them.
        """
        if number is not None:
            return self._has(key, number)
        # Turns are numbered apart from what callers number.
        return turn is not None and self._has(key, ~turn) and self._copies[key] <= _AT_ONCE

    def fails_again(self) -> bool:
        """Returns True if a call of the latest batch that fails does so beside another: they are one try."""
        has_failed, self._has_failed = self._has_failed, True
        return has_failed

    def _has(self, key: Key, name: str | int) -> bool:
        copies = self._copies
        if name != self._name:
            self._name = name
            copies.clear()
            self._has_failed = False
        count = copies.get(key, 0)
        if count or len(copies) < _CALLS:
            copies[key] = count + 1
        return count > 0


_BACK = 64  # numbers back from the highest within which a late event differs from a repeated one
_WINDOW = (1 << _BACK) - 1


class Numbering(State):
    """Takes the numbers of one chain's events, from whatever the first one is.

    >>> numbering = Numbering()
    >>> [numbering.take(number) for number in (7, 9, 8, 9, 8, 6)]
    [True, True, True, False, False, False]
    """

    has_begun: bool = False
    expected: int = 0  # the number after the highest
    in_order: bool = False  # whether nothing was passed over lately
    late: int = 0  # bit d: the number d + 1 below `expected` was passed over

    def take(self, number: int) -> bool:
        """True if the event of that number comes for the first time.

        One that is further back than the window reaches, or before the first, counts as seen.
        """
        ahead = number - self.expected
        if not self.has_begun or ahead >= _BACK:
            self.has_begun, self.late = True, 0
        elif ahead >= 0:
            self.late = (self.late << (ahead + 1) | ((1 << (ahead + 1)) - 2)) & _WINDOW
        else:
            bit = 1 << (-ahead - 1)
            if not self.late & bit:
                return False
            self.late ^= bit
            self.in_order = not self.late
            return True
        self.expected = number + 1
        self.in_order = not self.late
        return True
