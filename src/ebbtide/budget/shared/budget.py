"""Budgets: whose money, how much, and for how long."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum
from math import inf
from typing import Any, Final, NamedTuple

from ebbtide.budget.tally import units
from ebbtide.checks import member, number
from ebbtide.errors import ConfigError, shown
from ebbtide.settings_file import refuse_unknown

#: Dollars that a budget may hold and a call may cost: the sums fit into 64 bits in every store.
MOST_BUDGET_USD: Final = 1e6


class BudgetScope(StrEnum):
    """The owner of the money."""

    RUN = "run"
    AGENT = "agent"
    PROJECT = "project"
    USER = "user"
    ALL = "all"  #: everything that asks the same store


class Period(StrEnum):
    """The time that a budget has to last."""

    DAY = "day"
    MONTH = "month"  #: of the calendar
    TOTAL = "total"  #: it never begins anew


class BudgetSpan(NamedTuple):
    """A period: its name, and seconds since 1970 from when and up to when it lasts."""

    name: str
    start: float
    end: float


def span_of(period: Period, now: float, zone: tzinfo) -> BudgetSpan:
    """Returns the period in which a moment lies, by the calendar of a time zone.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Spender:
    """The caller of a model. What is not named is ``""``: all that name no project are one project.

    Args:
        run: Id of the run.
        agent: Name of the agent.
        project: Name of the project.
        user: Name of the user.
    """

    run: str = ""
    agent: str = ""
    project: str = ""
    user: str = ""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, str):
                raise ConfigError(f"{field.name} = {shown(value)}: expected a text")

    def name_in(self, scope: BudgetScope) -> str:
        """Its name in a scope; ``""`` where it has none."""
        return "" if scope is BudgetScope.ALL else str(getattr(self, scope.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A sum of money for whoever it is meant for.

    Args:
        scope: Whose it is.
        name: Of the run, agent, project or user, or a pattern such as ``"team-*"``: each that it fits has a
            budget of its own. Of budgets with the same scope and period, the one of exactly this name counts,
            else the first whose pattern fits.
        per: How long it has to last.
        limit_usd: Dollars that may be spent; no call is let through that may pass it. None sets no limit.
        soft_usd: Dollars from which a person is asked before the next call; None never asks.
        reserve_usd: Dollars that are set aside for a call of which nobody knows what it can cost; None takes
            a sixteenth of `limit_usd`. Whatever is left is enough for such a call.

    Raises:
        ConfigError: An amount is negative or no number, there is none, or a name stands where none can.

    >>> Budget(scope="project", name="invoices", per="day", limit_usd=5.0, soft_usd=4.0).per
    <Period.DAY: 'day'>
    >>> Budget(scope="user", soft_usd=6, limit_usd=5)
    Traceback (most recent call last):
    ebbtide.errors.ConfigError: soft_usd = 6: expected less than limit_usd = 5
    """

    scope: BudgetScope
    name: str = "*"
    per: Period = Period.TOTAL
    limit_usd: float | None = None
    soft_usd: float | None = None
    reserve_usd: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scope", member("scope", self.scope, BudgetScope))
        object.__setattr__(self, "per", member("per", self.per, Period))
        if not isinstance(self.name, str) or not self.name:
            raise ConfigError(f"name = {shown(self.name)}: expected a name, or a pattern such as *")
        if self.scope is BudgetScope.ALL and self.name != "*":
            raise ConfigError(f"name = {shown(self.name)}: a budget of all has no name; leave it out")
        for key in ("limit_usd", "soft_usd", "reserve_usd"):
            value = getattr(self, key)
            if value is not None:
                budget_units(key, value)
        if self.limit_usd is None and self.soft_usd is None:
            raise ConfigError("a budget needs limit_usd, soft_usd or both")
        if self.limit_usd is not None and self.soft_usd is not None and self.soft_usd >= self.limit_usd:
            raise ConfigError(f"soft_usd = {self.soft_usd}: expected less than limit_usd = {self.limit_usd}")

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Budget:
        """The budget of a parsed TOML or JSON table.

        Raises:
            ConfigError: An unknown key, none that says whose it is, or a value out of range.
        """
        names = [field.name for field in dataclasses.fields(cls)]
        refuse_unknown(table, names)
        if "scope" not in table:
            raise ConfigError(f"scope is missing: expected one of {', '.join(BudgetScope)}")
        return cls(**table)


def budget_units(name: str, usd: float) -> int:
    """Dollars in whole units.

    Raises:
        ConfigError: They are negative, too many or no number.
    """
    number(name, usd, least=0, most=MOST_BUDGET_USD, expected=f"dollars, 0 to {MOST_BUDGET_USD:,.0f}")
    return units(usd)
