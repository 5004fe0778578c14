"""The reasons for which a budget does not let the next call through, and the sentence that says so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ebbtide.budget.shared.budget import BudgetScope, Period
from ebbtide.budget.tally import dollars
from ebbtide.errors import RunHalted

_SPANS = {Period.DAY: " today", Period.MONTH: " this month", Period.TOTAL: ""}


class RefusalReason(StrEnum):
    """Reasons for which no lease is given."""

    LIMIT = "limit"  #: it does not fit
    UNKNOWN = "unknown"  #: a call ended at a cost that nobody knows
    ASK = "ask"  #: the soft limit is reached, and no person has been asked
    AWAY = "away"  #: the store cannot be asked


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRefusal:
    """A budget that does not let the next call through.

    Args:
        reason: The reason for the refusal.
        key: Names the budget in its store; ``""`` where the store cannot be asked.
        scope: Whose it is; None where the store cannot be asked.
        name: Of the run, agent, project or user.
        per: How long it has to last.
        spent_usd: Dollars that calls took.
        reserved_usd: Dollars that are set aside for calls under way.
        call_usd: Dollars that were to be set aside for the call.
        limit_usd: Dollars that may be spent; None where there is no limit.
        soft_usd: Dollars from which a person is asked; None where nobody is.
        why: What the store said where it cannot be asked.
    """

    reason: RefusalReason
    key: str = ""
    scope: BudgetScope | None = None
    name: str = ""
    per: Period = Period.TOTAL
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    call_usd: float = 0.0
    limit_usd: float | None = None
    soft_usd: float | None = None
    why: str = ""

    @property
    def owner(self) -> str:
        """The owner of the budget, in words.

        >>> BudgetRefusal(reason=RefusalReason.LIMIT, scope=BudgetScope.PROJECT, name="invoices").owner
        "the budget of project 'invoices'"
        """
        if self.scope is None:
            return "the budgets"
        if self.scope is BudgetScope.ALL:
            return "the overall budget"
        return (
            f"the budget of {self.scope} {self.name!r:.60}" if self.name else f"the budget of no {self.scope}"
        )

    @property
    def sentence(self) -> str:
        """The reason, and what to do, for a person."""
        owner = self.owner[0].upper() + self.owner[1:]
        under_way = (
            f", {dollars(self.reserved_usd)} set aside for calls under way" if self.reserved_usd else ""
        )
        of_limit = "" if self.limit_usd is None else f" of {dollars(self.limit_usd)}"
        size = f"{dollars(self.spent_usd)}{of_limit} spent{_SPANS[self.per]}{under_way}"
        match self.reason:
            case RefusalReason.LIMIT:
                wish = f", and it may cost {dollars(self.call_usd)}" if self.call_usd else ""
                return f"{owner} does not allow the next call: {size}{wish}."
            case RefusalReason.ASK:
                soft = dollars(self.soft_usd or 0.0)
                return (
                    f"{owner} has passed {soft}, so a person must approve more: {size}. "
                    f"To continue: `ebbtide budgets approve {self.key}`."
                )
            case RefusalReason.UNKNOWN:
                return (
                    f"{owner} cannot be counted: the cost of a finished call is unknown. "
                    f"Pass prices, or a usage with its cost; then `ebbtide budgets reset {self.key}`. Or set "
                    'when_unknown = "allow".'
                )
        return f'The budgets cannot be checked: {self.why}. Restore the store, or set when_away = "allow".'


class BudgetRefused(RunHalted):
    """A budget that others draw on too does not allow the next call, or wants a person asked first.

    Args:
        refusal: The `BudgetRefusal`: which budget, why, and how it stands.
    """

    def __init__(self, refusal: BudgetRefusal) -> None:
        self.refusal = refusal
        super().__init__(refusal)

    def __str__(self) -> str:
        return self.refusal.sentence

    def to_dict(self) -> dict[str, Any]:
        """The error as an event."""
        refusal = self.refusal
        return {
            "event_type": "BUDGET_REFUSED",
            "severity": "escalate" if refusal.reason is RefusalReason.ASK else "stop",
            "reason": refusal.reason.value,
            "key": refusal.key,
            "spent_usd": refusal.spent_usd,
            "reserved_usd": refusal.reserved_usd,
            "limit_usd": refusal.limit_usd,
        }
