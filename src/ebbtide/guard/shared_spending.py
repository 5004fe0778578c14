"""Spending of a run's calls from budgets that others draw on too."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ebbtide.budget.account import Account
from ebbtide.budget.limits import LimitKind
from ebbtide.budget.scope import Scope
from ebbtide.budget.shared.budget_reservation import BudgetReservation
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.errors import StoreError
from ebbtide.guard.observers import Observers
from ebbtide.guard.operation import Operation

# The budgets of each context, by the account of its scope: a call finds those of the contexts around it.
_BY_ACCOUNT: WeakKeyDictionary[Account, Budgets] = WeakKeyDictionary()

Leases = tuple[BudgetReservation, ...]


class SharedSpending:
    """Spender that reserves in the budgets of a run and of those around it, and says when a store is away.

    Args:
        budgets: As the run sees them; None has none of its own.
        scope: The scope of the run.
        observers: Count the faults of the stores, and forward them.
    """

    def __init__(self, budgets: Budgets | None, scope: Scope, observers: Observers) -> None:
        self._scope = scope
        self._observers = observers
        if budgets is not None:
            _BY_ACCOUNT[scope.account] = budgets

    def counted(self) -> list[tuple[LimitKind, float]]:
        """Returns the limits that a call must not leave uncounted."""
        budgets = self._budgets()
        return [(LimitKind.COST_USD, limit) for each in budgets for limit in each.strict_limits()]

    def reserve(self, operation: Operation, cost_usd: float | None, *, is_bound: bool) -> Leases | None:
        """Sets money aside for a call in all budgets or in none; None if it takes none, or there are none.

        Args:
            cost_usd: Dollars; None where nobody knows.
            is_bound: True if they are the most that it can cost.

        Raises:
            BudgetRefused: A budget does not allow it.
        """
        budgets = [] if operation.is_free else self._budgets()
        if not budgets:
            return None
        leases: list[BudgetReservation] = []
        before = _faults(budgets)
        try:
            leases.extend(each.reserve(cost_usd, bound=is_bound) for each in budgets)
        except BaseException:
            for lease in leases:
                lease.release()
            raise
        finally:
            self._report(budgets, before)
        return tuple(leases)

    def settle(
        self, leases: Leases | None, cost_usd: float | None, *, failed: bool, later: bool = False
    ) -> None:
        """Records what a call cost, as `BudgetReservation.settle`."""
        if leases is None:
            return
        budgets = [] if later else self._budgets()
        before = _faults(budgets)
        for lease in leases:
            lease.settle(cost_usd, failed=failed, later=later)
        self._report(budgets, before)

    def _budgets(self) -> list[Budgets]:
        if not _BY_ACCOUNT:
            return []
        found = (_BY_ACCOUNT.get(account) for account in self._scope.accounts_here())
        return Budgets.together(budgets for budgets in found if budgets is not None)

    def _report(self, several: list[Budgets], before: int) -> None:
        if _faults(several) > before:
            why = next((budgets.last_fault for budgets in several if budgets.last_fault), "")
            self._observers.fault("budgets", StoreError(why))
            chain_id = self._observers.chain_id
            event = {"event_type": "BUDGETS_AWAY", "severity": "warn", "why": why, "chain_id": chain_id}
            self._observers.emit(event)


def _faults(several: list[Budgets]) -> int:
    return sum(budgets.faults for budgets in several)
