"""The day or the month that a moment lies in, by the calendar of a time zone."""

from __future__ import annotations

from datetime import datetime, tzinfo
from math import inf
from typing import NamedTuple

from ebbtide.budget.shared.budget import Period


class BudgetSpan(NamedTuple):
    """A period: its name, and seconds since 1970 from when and up to when it lasts."""

    name: str
    start: float
    end: float


def span_of(period: Period, now: float, zone: tzinfo) -> BudgetSpan:
    """The period in which a moment lies.

    >>> from datetime import UTC
    >>> span_of(Period.MONTH, 1_700_000_000.0, UTC)
    BudgetSpan(name='2023-11', start=1698796800.0, end=1701388800.0)
    """
    if period is Period.TOTAL:
        return BudgetSpan("", -inf, inf)
    today = datetime.fromtimestamp(now, zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if period is Period.DAY:
        # By the calendar, and not by 24 hours: the day on which the clocks change is longer or shorter.
        tomorrow = datetime.fromordinal(today.toordinal() + 1).replace(tzinfo=zone)
        return BudgetSpan(f"{today:%Y-%m-%d}", today.timestamp(), tomorrow.timestamp())
    first = today.replace(day=1)
    years, month = divmod(first.month, 12)
    following = first.replace(year=first.year + years, month=month + 1)
    return BudgetSpan(f"{first:%Y-%m}", first.timestamp(), following.timestamp())
