"""Sets money aside for one call in all budgets that apply to it."""

from __future__ import annotations

from ebbtide.budget.shared.budget import budget_units
from ebbtide.budget.shared.budget_store import NOTHING, CallCharge, Lease, named_charge
from ebbtide.budget.shared.store_link import StoreLink
from ebbtide.budget.tally import UNITS
from ebbtide.errors import StoreError


class BudgetReservation:
    """The money that is set aside for one call, until it is settled or its lease ends.

    Args:
        link: The way to the store.
        lease: What is set aside; None where no budget applies.
        is_bound: Whether it is the most that the call can cost.
    """

    __slots__ = ("_charge", "_has_cost", "_is_bound", "_lease", "_link")

    def __init__(self, link: StoreLink, lease: Lease | None, *, is_bound: bool) -> None:
        self._link = link
        self._lease = lease
        self._is_bound = is_bound
        self._charge: CallCharge | None = None
        self._has_cost = False

    @property
    def usd(self) -> float:
        """Dollars that are set aside."""
        return 0.0 if self._lease is None else self._lease.amount / UNITS

    def settle(self, cost_usd: float | None = None, *, failed: bool = False, later: bool = False) -> None:
        """Say what the call cost. It never fails for the store: a charge that it cannot take waits.

        Args:
            cost_usd: Dollars; None where nobody knows: then what was set aside is charged, and a call that
                was not known to cost so much at most counts as unpriced. A cost that was known once stays.
            failed: The call failed or was broken off: then what was set aside is enough.
            later: Tell the store with the next call, and not now.

        Raises:
            ConfigError: The cost is negative or no number.
        """
        cost = None if cost_usd is None else budget_units("cost_usd", cost_usd)
        before = self._charge
        if self._lease is None or self._has_cost or (cost is None and before is not None):
            return
        unknown = CallCharge(self._lease.amount, is_unpriced=not (failed or self._is_bound))
        self._charge = unknown if cost is None else CallCharge(cost)
        self._has_cost = cost is not None
        tell = self._link.settle_later if later else self._link.settle
        tell(self._lease, self._charge, before or NOTHING)

    def settle_as(self, charge_id: str, cost_usd: float | None) -> BudgetReservation:
        """Settle it as `Budgets.charge` does, under an id that another process can tell."""
        if self._lease is None:
            return self
        lease = named_charge(self._lease, charge_id)
        charge = BudgetReservation(self._link, lease, is_bound=self._is_bound)
        charge.settle(cost_usd)
        self.release()
        return charge

    def release(self) -> None:
        """Give back what was set aside for a call that was not made."""
        self.settle(0.0)

    def renew(self) -> bool:
        """Let the lease last as long again from now on, for a call that takes long.

        Returns:
            Whether it still ran. Where the store cannot be asked it is not renewed.
        """
        if self._lease is None:
            return True
        try:
            return self._link.store.renew(self._lease)
        except StoreError:
            return False
