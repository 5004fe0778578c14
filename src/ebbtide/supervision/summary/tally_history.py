"""History of what a chain had taken, in a few bytes an event, so that stretches can be priced."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate
from math import isnan, nan
from typing import NamedTuple

from ebbtide.budget.tally import UNITS, Tally

_TOGETHER = 64  # events that are noted at once, which costs half of noting them one by one
_KEPT = 1 << 20  # events whose place is known; beyond them the older half is forgotten


class Stretch(NamedTuple):
    """A part of a chain: its first and last event, numbered in the run, and what it took; None is unknown."""

    first: int
    last: int
    cost_usd: float | None
    tokens: int | None
    seconds: float | None


class TallyHistory:
    """The history of one chain's tally."""

    __slots__ = (
        "_cost",
        "_earlier_cost",
        "_earlier_tokens",
        "_latest_place",
        "_numbers",
        "_places",
        "_tokens",
        "_ts",
        "_waiting",
        "name",
        "tallies",
    )

    def __init__(self, name: str, tally: Tally) -> None:
        self.name = name
        #: One, or several where the chain had been dropped and came back.
        self.tallies = [tally]
        self._earlier_cost = 0
        self._earlier_tokens = 0
        self._waiting: list[tuple[int, int, float, int, int]] = []
        self._latest_place = 0
        self._places = array("q")
        self._numbers = array("q")
        self._cost = array("d")  # whole units: exact up to $9,000, and to sixteen digits beyond
        self._tokens = array("q")
        self._ts = array("d")

    def note(self, tally: Tally, number: int, place: int, ts: float | None) -> None:
        """Note what the chain has taken with an event.

        Args:
            number: Number of the event in the run.
            place: Its number in the chain.
            ts: Its time; None where it is not known.
        """
        if tally is not self.tallies[-1]:
            self._flush()
            self._earlier_cost += self.tallies[-1].cost or 0
            self._earlier_tokens += self.tallies[-1].tokens or 0
            self.tallies.append(tally)
        cost = self._earlier_cost + (tally.cost or 0)
        tokens = self._earlier_tokens + (tally.tokens or 0)
        waiting = self._waiting
        waiting.append((number, place, nan if ts is None else ts, cost, tokens))
        if len(waiting) >= _TOGETHER:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        numbers, places, times, costs, tokens = zip(*self._waiting, strict=True)
        self._waiting.clear()
        self._numbers.extend(numbers)
        # What comes late stands beside the latest: the table stays in order.
        ordered = list(accumulate(places, max, initial=self._latest_place))
        self._latest_place = ordered[-1]
        self._places.extend(ordered[1:])
        self._ts.extend(times)
        self._cost.extend(costs)
        self._tokens.extend(tokens)
        if len(self._places) > _KEPT:
            for column in (self._places, self._numbers, self._cost, self._tokens, self._ts):
                del column[: _KEPT // 2]

    def stretch(self, first_place: int, last_place: int) -> Stretch:
        """Returns what was taken between two events of the chain, both included."""
        self._flush()
        first = bisect_left(self._places, first_place)
        last = max(bisect_right(self._places, last_place) - 1, first)
        return self._between(min(first, len(self._places) - 1), min(last, len(self._places) - 1))

    def stretch_of_run(self, first: int, last: int) -> Stretch:
        """The same, by numbers of events in the run."""
        self._flush()
        start = min(bisect_left(self._numbers, first), len(self._numbers) - 1)
        end = max(bisect_right(self._numbers, last) - 1, start)
        return self._between(start, end)

    def _between(self, first: int, last: int) -> Stretch:
        if first < 0:
            return Stretch(0, 0, None, None, None)
        cost = self._cost[last] - (self._cost[first - 1] if first else 0.0)
        tokens = self._tokens[last] - (self._tokens[first - 1] if first else 0)
        seconds = self._ts[last] - self._ts[first]
        return Stretch(
            first=self._numbers[first],
            last=self._numbers[last],
            cost_usd=cost / UNITS if self._is_known("cost", self._cost[last]) else None,
            tokens=tokens if self._is_known("tokens", self._tokens[last]) else None,
            seconds=None if isnan(seconds) else max(seconds, 0.0),
        )

    def _is_known(self, name: str, so_far: float) -> bool:
        """True if an amount is known of a stretch; a total that is stated after it says nothing about it."""
        amounts = [amount for tally in self.tallies if (amount := getattr(tally, name)) is not None]
        return bool(amounts) and (so_far > 0 or not any(amounts))
