"""Numbers of events: which were seen already, also where some come late.

Source: the anti-replay window of RFC 4303, 3.4.3.
"""

from __future__ import annotations

from typing import Any

_BACK = 64  # numbers back from the highest within which a late event differs from a repeated one
_WINDOW = (1 << _BACK) - 1


class Numbering:
    """Takes the numbers of one chain's events, from whatever the first one is.

    >>> numbering = Numbering()
    >>> [numbering.take(number) for number in (7, 9, 8, 9, 8, 6)]
    [True, True, True, False, False, False]
    """

    __slots__ = ("expected", "has_begun", "in_order", "late")

    def __init__(self) -> None:
        self.has_begun = False
        self.expected = 0  # the number after the highest
        self.in_order = False  # whether nothing was passed over lately
        self.late = 0  # bit d: the number d + 1 below `expected` was passed over

    def take(self, number: int) -> bool:
        """Whether the event of that number comes for the first time.

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

    def to_state(self) -> list[Any]:
        """All that later answers depend on."""
        return [self.has_begun, self.expected, self.late]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        self.has_begun, self.expected, self.late = state
        self.in_order = self.has_begun and not self.late
