"""The state of a budget for people: what was spent, what is left, and when it begins anew."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Final, Self

from ebbtide.budget.shared.budget import Budget, BudgetScope, BudgetSpan, Period
from ebbtide.budget.shared.budget_store import SlotStanding
from ebbtide.budget.tally import UNITS
from ebbtide.codec import Record

_SHORTEST_SHARE: Final = 0.02  # of a period: half an hour of a day, from which the rest is reckoned


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStanding(Record):
    """The state of one budget in its present period.

    Args:
        key: Names it in its store.
        scope: Whose it is.
        name: Of the run, agent, project or user; ``""`` for those that name none, and for all.
        per: How long it has to last.
        limit_usd: Dollars that may be spent, with what a person has added; None where there is no limit.
        soft_usd: Dollars from which a person is asked, likewise.
        spent_usd: Dollars that calls took.
        reserved_usd: Dollars that are set aside for calls under way.
        unpriced_calls: Calls of which nobody knows what they took; what was set aside for them is spent.
        is_approved: Whether a person has let it go on beyond the soft limit.
        resets_at: When it begins anew, in seconds since 1970; None where it never does.
        projected_usd: Dollars that it will have taken by then, if it goes on as it has since it began; None
            where it never begins anew, or has just begun.
    """

    _WIRE: ClassVar = "* left_usd"

    key: str
    scope: BudgetScope
    name: str
    per: Period
    limit_usd: float | None
    soft_usd: float | None
    spent_usd: float
    reserved_usd: float
    unpriced_calls: int
    is_approved: bool
    resets_at: float | None
    projected_usd: float | None = None

    @classmethod
    def of(cls, standing: SlotStanding, budget: Budget | None, span: BudgetSpan, now: float) -> Self:
        """Of what the store says.

        Args:
            budget: The budget; None where it is not set any more.
            now: Seconds since 1970.
        """
        scope, name, per, _ = parts_of_key(standing.key)
        extra = standing.extra / UNITS
        limit = None if budget is None else budget.limit_usd
        soft = None if budget is None else budget.soft_usd
        return cls(
            key=standing.key,
            scope=scope,
            name=name,
            per=per,
            limit_usd=None if limit is None else limit + extra,
            soft_usd=None if soft is None else soft + extra,
            spent_usd=standing.spent / UNITS,
            reserved_usd=standing.reserved / UNITS,
            unpriced_calls=standing.unpriced,
            is_approved=standing.is_approved,
            resets_at=None if span.end == inf else span.end,
            projected_usd=_projected(standing.spent / UNITS, span, now),
        )

    @property
    def left_usd(self) -> float | None:
        """Dollars that a call may still set aside; None where there is no limit."""
        if self.limit_usd is None:
            return None
        return max(0.0, round((self.limit_usd - self.spent_usd - self.reserved_usd) * UNITS) / UNITS)


def _projected(spent_usd: float, span: BudgetSpan, now: float) -> float | None:
    """Estimates the spending by the end of a period, if it goes on so; None if too little of it is over."""
    whole = span.end - span.start
    share = 0.0 if whole == inf else (now - span.start) / whole
    return None if share < _SHORTEST_SHARE else round(spent_usd / min(share, 1.0), 6)


def slot_key(scope: BudgetScope, name: str, per: Period, span: str) -> str:
    """Returns the name of a budget in its store, for one name and one period.

    >>> slot_key(BudgetScope.USER, "ann", Period.DAY, "2026-11-23")
    'user:ann:day:2026-11-23'
    """
    names = [] if scope is BudgetScope.ALL else [name]
    return ":".join([scope, *names, per, *([span] if span else [])])


def parts_of_key(key: str) -> tuple[BudgetScope, str, Period, str]:
    """Scope, name, period and span of a key; names may hold colons.

    >>> parts_of_key("run:a:b:total")[1]
    'a:b'
    """
    scope, *rest = key.split(":")
    span = "" if rest[-1] == Period.TOTAL else rest.pop()
    return BudgetScope(scope), ":".join(rest[:-1]), Period(rest[-1]), span
