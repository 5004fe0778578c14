"""What a run took, event by event, in a few bytes an event."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from math import isnan, nan
from operator import attrgetter
from typing import NamedTuple

from ebbtide.budget.limit_alerts import amount
from ebbtide.events.event import Call
from ebbtide.supervision.summary.run_summary import Spending, Tokens

_TOGETHER = 64  # events that are counted at once, which costs half of counting them one by one
_KEPT = 1 << 20  # events whose place is known; beyond them the older half is forgotten
_MODELS = 64  # without a price that are named
_NO_CALLS = frozenset({"user", "system"})
_ASIDE = frozenset({"stream", "thought"})  # parts of a model's call, not calls
_LATEST_S = 1e15
_NUMBER = (int, float)
_QUICK = 1 << 40  # tokens; a count up to here needs no closer look

_spent_of = attrgetter("cost_usd", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_NOTHING = (None,) * 5


class Stretch(NamedTuple):
    """A part of a chain: its first and last event, numbered in the run, and what it took; None is unknown."""

    first: int
    last: int
    cost_usd: float | None
    tokens: int | None
    seconds: float | None


class Ledger:
    """What one chain took.

    Args:
        name: The chain.
    """

    __slots__ = (
        "_classes",
        "_cost",
        "_cost_usd",
        "_events",
        "_first_ts",
        "_latest",
        "_latest_ts",
        "_llm_calls",
        "_numbers",
        "_seqs",
        "_token_count",
        "_tokens",
        "_tool_calls",
        "_ts",
        "_unpriced",
        "_unpriced_models",
        "_waiting",
        "name",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self._waiting: list[tuple[int, int, Call]] = []  # number, place and event
        self._latest = 0
        self._events = 0
        self._tool_calls = 0
        self._llm_calls = 0
        self._cost_usd: float | None = None
        self._token_count: int | None = None
        self._classes: list[int | None] = [None] * 4
        self._unpriced = 0
        self._unpriced_models: dict[str, None] = {}
        self._first_ts: float | None = None
        self._latest_ts: float | None = None
        self._seqs = array("q")
        self._numbers = array("q")
        self._cost = array("d")
        self._tokens = array("q")
        self._ts = array("d")

    def take(self, call: Call, number: int, place: int) -> None:
        """Count an event.

        Args:
            call: The event.
            number: Its number in the run.
            place: Its number in the chain.
        """
        waiting = self._waiting
        waiting.append((number, place, call))
        if len(waiting) >= _TOGETHER:
            self._count()

    def take_round(self) -> None:
        """Count a round that was handed over: an event that took nothing."""
        self._events += 1

    def _count(self) -> None:
        """Count the events that wait."""
        if not self._waiting:
            return
        numbers, places, calls = zip(*self._waiting, strict=True)
        self._waiting.clear()
        self._events += len(calls)
        models = [call.name for call in calls if call.kind == "llm"]
        self._llm_calls += len(models) - sum([name in _ASIDE for name in models])
        self._tool_calls += len(calls) - len(models) - sum([call.kind in _NO_CALLS for call in calls])
        self._numbers.extend(numbers)
        # What comes late stands beside the latest: the table stays in order.
        seqs = list(accumulate(places, max, initial=self._latest))
        self._latest = seqs[-1]
        self._seqs.extend(seqs[1:])
        self._pass([call.ts for call in calls])
        for call, told in zip(calls, map(_spent_of, calls), strict=True):
            if told != _NOTHING:
                self._spend(call, *told)
            self._cost.append(self._cost_usd or 0.0)
            self._tokens.append(self._token_count or 0)
        if len(self._seqs) > _KEPT:
            for column in (self._seqs, self._numbers, self._cost, self._tokens, self._ts):
                del column[: _KEPT // 2]

    def _pass(self, times: Sequence[float | None]) -> None:
        stamps = [ts if isinstance(ts, _NUMBER) and -_LATEST_S < ts < _LATEST_S else nan for ts in times]
        self._ts.extend(stamps)
        known = [ts for ts in stamps if not isnan(ts)]
        if known:
            if self._first_ts is None or self._latest_ts is None:
                self._first_ts = self._latest_ts = known[0]
            self._latest_ts = max(self._latest_ts, *known)

    def _spend(self, call: Call, cost_usd: float | None, *counts: int | None) -> None:
        cost = amount(cost_usd)
        if cost is not None:
            self._cost_usd = (self._cost_usd or 0.0) + cost
        total = None
        for place, told in enumerate(counts):
            if told is None:
                continue
            count = told if type(told) is int and 0 <= told <= _QUICK else _whole(told)
            if count is not None:
                self._classes[place] = (self._classes[place] or 0) + count
                total = (total or 0) + count
        if total is None:
            return
        self._token_count = (self._token_count or 0) + total
        if cost is None and call.kind == "llm":
            self._unpriced += 1
            if len(self._unpriced_models) < _MODELS:
                self._unpriced_models[call.model or ""] = None

    def stretch(self, first_seq: int, last_seq: int) -> Stretch:
        """What was taken between two events of the chain, both included."""
        self._count()
        first = bisect_left(self._seqs, first_seq)
        last = max(bisect_right(self._seqs, last_seq) - 1, first)
        return self._between(min(first, len(self._seqs) - 1), min(last, len(self._seqs) - 1))

    def stretch_of_run(self, first: int, last: int) -> Stretch:
        """The same, by numbers of events in the run."""
        self._count()
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
            cost_usd=None if self._cost_usd is None else cost,
            tokens=None if self._token_count is None else tokens,
            seconds=None if isnan(seconds) else max(seconds, 0.0),
        )

    def times(self) -> tuple[float, float] | None:
        """The first and the latest time of an event; None where none has one."""
        self._count()
        first, latest = self._first_ts, self._latest_ts
        return None if first is None or latest is None else (first, latest)

    def totals(self) -> tuple[float | None, int | None]:
        """Dollars and tokens of the chain so far; None where unknown."""
        self._count()
        return self._cost_usd, self._token_count

    def spending(self) -> Spending:
        """What the chain took so far."""
        times = self.times()
        fresh, output, cache_read, cache_write = self._classes
        return Spending(
            events=self._events,
            tool_calls=self._tool_calls,
            llm_calls=self._llm_calls,
            tokens=Tokens(input=fresh, output=output, cache_read=cache_read, cache_write=cache_write),
            cost_usd=self._cost_usd,
            unpriced=self._unpriced,
            unpriced_models=tuple(self._unpriced_models),
            seconds=None if times is None else times[1] - times[0],
        )


def _whole(value: object) -> int | None:
    """A count of tokens; None where it is none."""
    count = amount(value)
    return None if count is None else int(count)
