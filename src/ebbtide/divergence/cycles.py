"""Exact cycles at the tail of a stream: every period up to a bound, in constant memory.

The stream has period p for as long as each symbol equals the one p places before. So p has r full copies at
the tail as soon as that held for the last (r - 1) p symbols. For each live symbol the detector keeps an
integer whose bit d says "seen d symbols ago"; shifted by its age, it tells in one step which periods hold
now. A period that held twice in a row is entered in a timetable at the place where its copies would be
full, and looked at there.

Work per symbol: one lookup, a few operations on integers of `max_period` bits, and one step for each period
that begins to hold. Nothing is scanned.

Source: the bit-parallel masks of Baeza-Yates and Gonnet, "A New Approach to Text Searching" (CACM 1992),
taken over the stream itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from itertools import islice

from ebbtide.errors import ConfigError


class CycleDetector:
    """Says, symbol by symbol, whether the stream now ends in a cycle.

    Args:
        max_period: Longest period that is looked for, from 1.
        copies: Full copies that make a cycle, from 3: two are a coincidence.

    >>> detector = CycleDetector(max_period=4, copies=3)
    >>> [detector.push(symbol) for symbol in "xababab"]
    [None, None, None, None, None, None, 2]
    """

    __slots__ = (
        "_around",
        "_due",
        "_entered",
        "_every",
        "_full",
        "_now",
        "_older",
        "_pair",
        "_periods",
        "_recent",
        "_since",
        "_younger",
        "copies",
        "max_period",
    )

    def __init__(self, max_period: int = 128, copies: int = 3) -> None:
        if max_period < 1 or copies < 3:
            raise ConfigError(
                f"max_period = {max_period}, copies = {copies}: expected at least 1 and at least 3"
            )
        self.max_period = max_period
        self.copies = copies
        self._every = (1 << (max_period + 1)) - 2  # bits 1 to max_period
        self._around = (copies - 1) * max_period + 1  # places in the timetable
        self._recent: deque[Hashable] = deque(maxlen=copies * max_period)
        self._entered = True  # whether a period has held, so that there is something to forget below
        self.reset()

    def reset(self) -> None:
        """Forget the stream."""
        self._now = 0
        # Symbol -> (bit d: seen d symbols before that, place). Two generations of at least `max_period`
        # symbols each: whatever falls out of the older one is too far back for any period.
        self._younger: dict[Hashable, tuple[int, int]] = {}
        self._older: dict[Hashable, tuple[int, int]] = {}
        self._periods = 0  # periods that held at the last symbol, as bits
        self._pair = 0  # periods that held at the last two
        self._full = 0  # periods whose copies are full
        self._recent.clear()
        if self._entered:
            self._entered = False
            self._since = [0] * (self.max_period + 1)  # period -> the place from which it holds
            self._due = [0] * self._around  # place in the round of the timetable -> periods to look at

    def __len__(self) -> int:
        """Symbols that are kept."""
        return len(self._recent)

    def push_new(self, symbol: Hashable) -> None:
        """Take a symbol that is known not to be among the last `max_period` ones; `push` would find out."""
        self._now = now = self._now + 1
        self._recent.append(symbol)
        younger = self._younger
        if len(younger) >= self.max_period:
            self._older = younger
            self._younger = younger = {}
        younger[symbol] = (1, now)
        self._periods = self._pair = self._full = 0

    def push(self, symbol: Hashable) -> int | None:
        """Take one more symbol; the shortest period with its copies full at the tail, or None."""
        self._now = now = self._now + 1
        self._recent.append(symbol)
        younger = self._younger
        previous = younger.get(symbol) or self._older.get(symbol)
        if len(younger) >= self.max_period and symbol not in younger:
            self._older = younger
            self._younger = younger = {}
        if previous is None:
            younger[symbol] = (1, now)
            self._periods = self._pair = self._full = 0
            return None
        periods = (previous[0] << (now - previous[1])) & self._every
        younger[symbol] = (periods | 1, now)
        pair = periods & self._periods
        self._periods = periods
        if not pair:
            self._pair = self._full = 0
            return None
        due = self._due
        around = self._around
        new_pairs = pair & ~self._pair
        self._pair = pair
        if new_pairs:
            self._entered = True
        while new_pairs:
            lowest = new_pairs & -new_pairs
            new_pairs ^= lowest
            period = lowest.bit_length() - 1
            self._since[period] = now - 1
            due[(now + (self.copies - 1) * period - 2) % around] |= lowest
        full = self._full & pair
        candidates = due[now % around] & pair
        if candidates:
            due[now % around] = 0
            while candidates:
                lowest = candidates & -candidates
                candidates ^= lowest
                period = lowest.bit_length() - 1
                if now - self._since[period] + 1 >= (self.copies - 1) * period:
                    full |= lowest
        self._full = full
        return (full & -full).bit_length() - 1 if full else None

    @property
    def repeats_recent(self) -> bool:
        """True if the last symbol had been seen within the last `max_period` symbols."""
        return self._periods != 0

    def run(self, period: int) -> int:
        """Symbols at the tail that belong to the cycle of this period, its first copy included."""
        return self._now - self._since[period] + 1 + period if self._pair >> period & 1 else 0

    @property
    def recent(self) -> tuple[Hashable, ...]:
        """The last symbols, oldest first: all that later answers depend on, but for the length of a run."""
        return tuple(self._recent)

    def turn(self, period: int) -> tuple[Hashable, ...]:
        """The last `period` symbols, oldest first."""
        return tuple(islice(reversed(self._recent), period))[::-1]

    def restore(self, recent: Iterable[Hashable]) -> None:
        """Take up the stream that `recent` of another detector with the same bounds gave."""
        self.reset()
        for symbol in recent:
            self.push(symbol)

    def lengthen(self, period: int, run: int) -> None:
        """Say that the cycle of this period, which holds, is `run` symbols long; `recent` may tell less."""
        self._since[period] = self._now - run + period + 1
