"""Spending of a run's calls from budgets that others draw on too."""

from __future__ import annotations

from ebbtide.budget.limits import LimitKind
from ebbtide.budget.shared.budget_reservation import BudgetReservation
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.errors import StoreError
from ebbtide.guard.observers import Observers
from ebbtide.guard.operation import Operation


class SharedSpending:
    """Spender that reserves in budgets, and says when their store is away.

    Args:
        budgets: As the run sees them; None has none.
        observers: Count the faults of the store, and forward them.
    """

    def __init__(self, budgets: Budgets | None, observers: Observers) -> None:
        self._budgets = budgets
        self._observers = observers
        self._faults = 0 if budgets is None else budgets.faults

    def counted(self) -> list[tuple[LimitKind, float]]:
        """Returns the limits that a call must not leave uncounted."""
        limits = () if self._budgets is None else self._budgets.strict_limits()
        return [(LimitKind.COST_USD, limit) for limit in limits]

    def reserve(
        self, operation: Operation, cost_usd: float | None, *, is_bound: bool
    ) -> BudgetReservation | None:
        """Sets money aside for a call; None if it takes none, or there are no budgets.

        Args:
            cost_usd: Dollars; None where nobody knows.
            is_bound: True if they are the most that it can cost.

        Raises:
            BudgetRefused: A budget does not allow it.
        """
        if self._budgets is None or operation.is_free:
            return None
        try:
            return self._budgets.reserve(cost_usd, bound=is_bound)
        finally:
            self._tell()

    def settle(
        self, lease: BudgetReservation | None, cost_usd: float | None, *, failed: bool, later: bool = False
    ) -> None:
        """Records what a call cost, as `BudgetReservation.settle`."""
        if lease is not None:
            lease.settle(cost_usd, failed=failed, later=later)
            if not later:
                self._tell()

    def _tell(self) -> None:
        budgets = self._budgets
        if budgets is not None and budgets.faults > self._faults:
            self._faults = budgets.faults
            why = budgets.last_fault or ""
            self._observers.fault("budgets", StoreError(why))
            chain_id = self._observers.chain_id
            event = {"event_type": "BUDGETS_AWAY", "severity": "warn", "why": why, "chain_id": chain_id}
            self._observers.emit(event)
