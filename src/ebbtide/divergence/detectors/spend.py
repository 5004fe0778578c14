"""Spending of a chain: lately, towards the end of its budget, and without anything new.

What was spent is counted by the `Tally` of the chain, in whole units of money; this file only looks at when
it was. Spending without news is what was paid: an event whose cost is known counts in money, any other in
tokens, and there a token read from a cache counts as a tenth, which is its usual price. Rates and budgets of
tokens count all classes in full. A total that is stated at the end was spent at some time of the run: it is
counted in the tally, and in no rate.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ebbtide.budget.tally import units
from ebbtide.divergence.chain_memory import PROBE, ChainMemory, Detector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.signals import Measurement, Unit
from ebbtide.events.event import ToolCall, is_total
from ebbtide.events.identity import key_of
from ebbtide.events.usage import Usage
from ebbtide.profile.loop_kinds import LoopKind

_PARTS = 10  # of a window: it slides by one of them
_ROUNDING = 1e-12  # by this share of it, the end of a part is put too early rather than too late
_LEAST_S = 60.0  # of spending that a rate is taken from
_NO_LIMIT = 1 << 200
CACHE_DISCOUNT: Final = 10  #: tokens read from a cache that are paid like one token of input


class SpentSoFar(NamedTuple):
    """Spending of a chain at known times.

    Args:
        cost: Units of money.
        tokens: Tokens of all classes.
        unpriced: Tenths of tokens whose cost is not known; a token read from a cache is one tenth.
    """

    cost: int = 0
    tokens: int = 0
    unpriced: int = 0


@dataclass(slots=True)
class Window:
    """Spending over the last `span_s` seconds, give or take a tenth; money in units of the tally."""

    span_s: float
    cost: int = 0
    tokens: int = 0
    parts: deque[list[int]] = field(default_factory=deque)  # number of the part, units, tokens
    until: float = -math.inf  # a time before this falls into no later part

    def add(self, ts: float, cost: int, tokens: int) -> None:
        """Take what was spent at `ts`; a time before the latest counts with the latest."""
        if ts >= self.until:
            self._slide(ts)
        latest = self.parts[-1]
        latest[1] += cost
        latest[2] += tokens
        self.cost += cost
        self.tokens += tokens

    def _slide(self, ts: float) -> None:
        parts, part = self.parts, math.floor(ts * _PARTS / self.span_s)
        if not parts or part > parts[-1][0]:
            parts.append([part, 0, 0])
            while parts[0][0] <= part - _PARTS:
                _, cost, tokens = parts.popleft()
                self.cost -= cost
                self.tokens -= tokens
        end = (parts[-1][0] + 1) * self.span_s / _PARTS
        self.until = end - abs(end) * _ROUNDING


class Spend(Detector):
    """When one chain spent what its tally counts."""

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__(memory)
        rules = memory.rules
        self.tally = memory.tally
        # The latest event that stated spending, and what had been spent before it.
        self._before = (0, 0, 0)
        self.spent = self.spent_at_news = SpentSoFar()
        self.first_ts: float | None = None
        self.exceeded: LoopKind | None = None  # what is out of bounds now
        self.windows = (Window(60.0), Window(600.0), Window(3600.0))
        minute, ten_minutes, hour = self.windows
        limits = ((minute, rules.usd_per_minute), (hour, rules.usd_per_hour))
        self._rate_limits = [(window, units(limit)) for window, limit in limits if limit]
        self._has_budget = bool(rules.budget_usd or rules.budget_tokens)
        # What nobody looks at is not kept; the hour is in every snapshot.
        self._used_windows = [hour]
        if rules.usd_per_minute:
            self._used_windows.append(minute)
        if self._has_budget:
            self._used_windows.append(ten_minutes)
        self._usd_limit = units(rules.usd_without_news) if rules.usd_without_news else _NO_LIMIT
        self._token_limit = rules.tokens_without_news or _NO_LIMIT

    @property
    def is_known(self) -> bool:
        """True if any event stated what it took."""
        return self.tally.cost is not None or self.tally.tokens is not None

    def news(self) -> None:
        """Something new has come: spending without news begins again."""
        self.spent_at_news = self.spent

    def before(self, event: int) -> tuple[int, int]:
        """Units and tokens that were spent before the latest event, whose number is given."""
        number, cost, tokens = self._before
        return (cost, tokens) if number == event else (self.tally.cost or 0, self.tally.tokens or 0)

    def see(self, moment: Moment) -> Finding | None:
        """Take the latest event of the tally, which stated usage, and say what is out of bounds now."""
        ts, event = moment.ts, moment.number
        tally = self.tally
        cost, tokens = tally.last_cost, tally.last_tokens
        self._before = (event, (tally.cost or 0) - (cost or 0), (tally.tokens or 0) - (tokens or 0))
        if is_total(moment.event) or (cost is None and tokens is None):
            return None
        before = self.spent
        cost_units, count = before.cost + (cost or 0), before.tokens + (tokens or 0)
        unpriced = before.unpriced
        if cost is None and tokens is not None:
            unpriced += CACHE_DISCOUNT * tokens - (CACHE_DISCOUNT - 1) * tally.last_cache_read
        self.spent = SpentSoFar(cost_units, count, unpriced)
        if ts is not None:
            if self.first_ts is None:
                self.first_ts = ts
            for window in self._used_windows:
                window.add(ts, cost or 0, tokens or 0)
        excess = self._excess(ts)
        if excess is None:
            self.exceeded = None
            return None
        kind, ratio, measure = excess
        goes_on, self.exceeded = self.exceeded is kind, kind
        return Finding(
            kind=kind,
            key=key_of(kind),
            count=int(min(ratio, 1e6)),
            at=1,
            calls=0,
            first_event=event,
            begins=not goes_on,
            measure=measure,
            step=1,
        )

    def _excess(self, ts: float | None) -> tuple[LoopKind, float, Measurement] | None:
        excess = None
        if ts is not None:
            if self._rate_limits:
                excess = self._rates()
            if excess is None and self._has_budget:
                excess = self._budget(ts)
        return excess or self._without_news()

    def _rates(self) -> tuple[LoopKind, float, Measurement] | None:
        for window, limit in self._rate_limits:
            if window.cost > limit:
                measure = _money(window.cost, limit, window.span_s)
                return LoopKind.SPEND_RATE, window.cost / limit, measure
        return None

    def _budget(self, ts: float) -> tuple[LoopKind, float, Measurement] | None:
        rules, window, tally = self._rules, self.windows[1], self.tally
        lasted = min(ts - (self.first_ts or 0.0), window.span_s)
        if lasted < _LEAST_S:
            return None
        budget = units(rules.budget_usd) if rules.budget_usd else None
        if budget and window.cost:
            spent = tally.cost or 0
            left_s = max(budget - spent, 0) * lasted / window.cost
            if left_s < rules.budget_ends_in_s:
                return self._ending(left_s, _money(spent, budget, left_s))
        if rules.budget_tokens and window.tokens:
            count = tally.tokens or 0
            left_s = max(rules.budget_tokens - count, 0) * lasted / window.tokens
            if left_s < rules.budget_ends_in_s:
                return self._ending(left_s, Measurement(Unit.TOKENS, count, rules.budget_tokens, left_s))
        return None

    def _ending(self, left_s: float, measure: Measurement) -> tuple[LoopKind, float, Measurement]:
        # Twice as near is one report more.
        return LoopKind.BUDGET_END, self._rules.budget_ends_in_s / max(left_s, 1.0), measure

    def _without_news(self) -> tuple[LoopKind, float, Measurement] | None:
        spent, before = self.spent, self.spent_at_news
        cost = spent.cost - before.cost
        if cost > self._usd_limit:
            return LoopKind.SPEND_WITHOUT_NEWS, cost / self._usd_limit, _money(cost, self._usd_limit)
        tokens = (spent.unpriced - before.unpriced) // CACHE_DISCOUNT
        if tokens > self._token_limit:
            measure = Measurement(Unit.TOKENS, tokens, self._token_limit)
            return LoopKind.SPEND_WITHOUT_NEWS, tokens / self._token_limit, measure
        return None

    def to_state(self) -> list[Any]:
        """All that later findings depend on."""
        windows = [[one.cost, one.tokens, list(map(list, one.parts))] for one in self.windows]
        totals = [list(self._before), list(self.spent), list(self.spent_at_news)]
        return [*totals, self.first_ts, self.exceeded, windows]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        before, spent, spent_at_news, self.first_ts, exceeded, windows = state
        self._before = tuple(before)
        self.spent, self.spent_at_news = SpentSoFar(*spent), SpentSoFar(*spent_at_news)
        self.exceeded = None if exceeded is None else LoopKind(exceeded)
        for window, (cost, tokens, parts) in zip(self.windows, windows, strict=True):
            window.cost, window.tokens, window.parts = cost, tokens, deque(map(list, parts))


def _money(cost: int, limit: int, span_s: float | None = None) -> Measurement:
    return Measurement(Unit.USD, cost / units(1.0), limit / units(1.0), span_s)


def _known_spending(number: int, cost_usd: float, query: int) -> ToolCall:
    usage = Usage(cost_usd=cost_usd, input_tokens=1_000)
    return ToolCall(name=PROBE, args={"n": query}, result=f"answer {query}", usage=usage, ts=60.0 * number)


def known_spend_rate(number: int) -> ToolCall:
    """An event of a run that spends a dollar a minute."""
    return _known_spending(number, 1.0, number)


def known_spend_without_news(number: int) -> ToolCall:
    """An event of a run that pays for seven answers again and again."""
    return _known_spending(number, 0.1, number % 7)


def known_budget_end(number: int) -> ToolCall:
    """An event of a run that spends ten cents a minute."""
    return _known_spending(number, 0.1, number)
