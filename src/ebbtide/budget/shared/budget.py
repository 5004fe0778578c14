"""Budgets: whose money, how much, and for how long."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ebbtide.budget.tally import units
from ebbtide.checks import number
from ebbtide.errors import ConfigError, shown
from ebbtide.settings_file import offer

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
        for key, kind in (("scope", BudgetScope), ("per", Period)):
            value = getattr(self, key)
            if not isinstance(value, str) or value not in kind.__members__.values():
                words = ", ".join(member.value for member in kind)
                raise ConfigError(f"{key} = {shown(value)}: expected one of {words}")
            object.__setattr__(self, key, kind(value))
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
        for key in table:
            if key not in names:
                raise ConfigError(f"{key}: no such setting; {offer(key, names)}")
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
