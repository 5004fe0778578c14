"""What a chain spends: lately, towards the end of its budget, and without anything new.

All token classes count: most of what a runaway burns is input and cache reads.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from ebbtide.divergence.ladder import Finding
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import Call
from ebbtide.events.identity import key_of
from ebbtide.profile.divergence import LoopRules

_NUMBER = (int, float)  # a union would be built anew at every look
_PARTS = 10  # of a window: it slides by one of them
_MOST = 1e12  # dollars or tokens of one event: sums of such stay finite
_ROUNDING = 1e-12  # by this share of it, the end of a part is put too early rather than too late
_LEAST_S = 60.0  # of spending that a rate is taken from


def dollars(amount: float) -> str:
    """Dollars in a sentence; a small amount with two digits that say something, so that it is not zero.

    >>> dollars(1234.5), dollars(0.00421), dollars(0.0), dollars(0.0000012)
    ('$1,234.50', '$0.0042', '$0.00', 'under $0.0001')
    """
    if 0 < amount < 0.01:
        return f"${amount:.2g}" if amount >= 0.0001 else "under $0.0001"
    return f"${amount:,.2f}"


def _said(unit: str, amount: float) -> str:
    return dollars(amount) if unit == "USD" else f"{amount:,.0f} {unit}"


@dataclass(slots=True)
class Window:
    """Spending over the last `span_s` seconds, give or take a tenth."""

    span_s: float
    cost_usd: float = 0.0
    tokens: int = 0
    parts: deque[list[Any]] = field(default_factory=deque)  # number of the part, dollars, tokens
    until: float = -math.inf  # a time before this falls into no later part

    def add(self, ts: float, cost_usd: float, tokens: int) -> None:
        """Take what was spent at `ts`; a time before the latest counts with the latest."""
        if ts >= self.until:
            self._slide(ts)
        latest = self.parts[-1]
        latest[1] += cost_usd
        latest[2] += tokens
        self.cost_usd += cost_usd
        self.tokens += tokens

    def _slide(self, ts: float) -> None:
        parts, part = self.parts, math.floor(ts * _PARTS / self.span_s)
        if not parts or part > parts[-1][0]:
            parts.append([part, 0.0, 0])
            while parts[0][0] <= part - _PARTS:
                parts.popleft()
            _, costs, counts = zip(*parts, strict=True)
            self.cost_usd = math.fsum(costs)
            self.tokens = sum(counts)
        end = (parts[-1][0] + 1) * self.span_s / _PARTS
        self.until = end - abs(end) * _ROUNDING


class Spend:
    """The spending of one chain."""

    __slots__ = (
        "_before",
        "_has_budget",
        "_rate_limits",
        "_rules",
        "_token_limit",
        "_usd_limit",
        "cost_at_news",
        "cost_usd",
        "faults",
        "first_ts",
        "over",
        "tokens",
        "tokens_at_news",
        "windows",
    )

    def __init__(self, rules: LoopRules) -> None:
        self._rules = rules
        self.cost_usd: float | None = None
        self.tokens: int | None = None
        # The latest event that told of spending, and what had been spent before it.
        self._before = (0, 0.0, 0)
        self.cost_at_news = 0.0
        self.tokens_at_news = 0
        self.first_ts: float | None = None
        self.faults = 0
        self.over: str | None = None  # what is out of bounds now
        self.windows = (Window(60.0), Window(600.0), Window(3600.0))
        minute, _, hour = self.windows
        limits = ((minute, rules.usd_per_minute), (hour, rules.usd_per_hour))
        self._rate_limits = [(window, limit) for window, limit in limits if limit]
        self._has_budget = bool(rules.budget_usd or rules.budget_tokens)
        self._usd_limit = rules.usd_without_news or math.inf
        self._token_limit = rules.tokens_without_news or math.inf

    @property
    def is_known(self) -> bool:
        """Whether any event told of spending."""
        return self.cost_usd is not None or self.tokens is not None

    def news(self) -> None:
        """Something new has come: spending without news begins again."""
        self.cost_at_news = self.cost_usd or 0.0
        self.tokens_at_news = self.tokens or 0

    def before(self, event: int) -> tuple[float, int]:
        """Dollars and tokens that were spent before the latest event, whose number is given."""
        number, cost, tokens = self._before
        return (cost, tokens) if number == event else (self.cost_usd or 0.0, self.tokens or 0)

    def add(self, call: Call, ts: float | None, event: int) -> Finding | None:
        """Take what an event cost, and say what is out of bounds now."""
        spent, had = self.cost_usd or 0.0, self.tokens or 0
        self._before = (event, spent, had)
        cost = call.cost_usd
        if cost is not None and (cost := self._amount(cost)) is not None:
            self.cost_usd = spent + cost
        counts = (call.input_tokens, call.output_tokens, call.cache_read_tokens, call.cache_write_tokens)
        known = [
            amount for count in counts if count is not None and (amount := self._amount(count)) is not None
        ]
        tokens = int(sum(known))
        if known:
            self.tokens = had + tokens
        elif cost is None:
            return None
        if ts is not None:
            if self.first_ts is None:
                self.first_ts = ts
            for window in self.windows:
                window.add(ts, cost or 0.0, tokens)
        over = self._over(ts)
        if over is None:
            self.over = None
            return None
        kind, ratio, evidence = over
        goes_on, self.over = self.over == kind.value, kind.value
        return Finding(
            kind=kind,
            key=key_of(kind),
            count=int(min(ratio, 1e6)),
            at=1,
            calls=0,
            first_event=event,
            begins=not goes_on,
            evidence=evidence,
            step=1,
        )

    def _over(self, ts: float | None) -> tuple[LoopKind, float, str] | None:
        found = None
        if ts is not None:
            if self._rate_limits:
                found = self._rates()
            if found is None and self._has_budget:
                found = self._budget(ts)
        return found or self._without_news()

    def _amount(self, value: float) -> float | None:
        if type(value) in _NUMBER and 0 <= value <= _MOST:
            return value
        if isinstance(value, bool) or not isinstance(value, _NUMBER) or not 0 <= value <= _MOST:
            self.faults += 1  # NaN fails every comparison
            return None
        return value

    def _rates(self) -> tuple[LoopKind, float, str] | None:
        for window, limit in self._rate_limits:
            if window.cost_usd > limit:
                spent = dollars(window.cost_usd)
                evidence = f"{spent} in {window.span_s / 60:.0f} min, above {dollars(limit)}"
                return LoopKind.SPEND_RATE, window.cost_usd / limit, evidence
        return None

    def _budget(self, ts: float) -> tuple[LoopKind, float, str] | None:
        rules, window = self._rules, self.windows[1]
        lasted = min(ts - (self.first_ts or 0.0), window.span_s)
        if lasted < _LEAST_S:
            return None
        for name, budget, spent, lately in (
            ("USD", rules.budget_usd, self.cost_usd or 0.0, window.cost_usd),
            ("tokens", rules.budget_tokens, self.tokens or 0, window.tokens),
        ):
            if (
                budget
                and lately
                and (left_s := max(budget - spent, 0) * lasted / lately) < rules.budget_ends_in_s
            ):
                share = f"{_said(name, spent)} of {_said(name, budget)}"
                evidence = f"{share} spent; at this rate the rest lasts {left_s:,.0f} s"
                # Twice as near is one step up the ladder.
                return LoopKind.BUDGET_END, rules.budget_ends_in_s / max(left_s, 1.0), evidence
        return None

    def _without_news(self) -> tuple[LoopKind, float, str] | None:
        usd = (self.cost_usd or 0.0) - self.cost_at_news
        if usd > self._usd_limit:
            return _idle("USD", usd, self._usd_limit)
        tokens = (self.tokens or 0) - self.tokens_at_news
        return _idle("tokens", tokens, self._token_limit) if tokens > self._token_limit else None

    def to_state(self) -> list[Any]:
        """All that later findings depend on."""
        windows = [[one.cost_usd, one.tokens, list(map(list, one.parts))] for one in self.windows]
        totals = [self.cost_usd, self.tokens, self.cost_at_news, self.tokens_at_news, self.first_ts]
        return [*totals, self.faults, self.over, windows]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` told."""
        *totals, self.faults, self.over, windows = state
        self.cost_usd, self.tokens, self.cost_at_news, self.tokens_at_news, self.first_ts = totals
        for window, (cost, tokens, parts) in zip(self.windows, windows, strict=True):
            window.cost_usd, window.tokens, window.parts = cost, tokens, deque(map(list, parts))


def _idle(unit: str, spent: float, limit: float) -> tuple[LoopKind, float, str]:
    evidence = f"{_said(unit, spent)} since the last new answer, above {_said(unit, limit)}"
    return LoopKind.SPEND_WITHOUT_NEWS, spent / limit, evidence
