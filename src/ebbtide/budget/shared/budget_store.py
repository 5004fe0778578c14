"""The questions to a store of budgets, and its answers. Money is in whole units of the `Tally`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final, Protocol

from ebbtide.budget.shared.budget_refusal import RefusalReason

#: Seconds that a store remembers a slot of a run, a day or a month after it was of use.
RETENTION_S: Final = 62 * 24 * 3600.0
#: Seconds within which a charge with a name counts once.
NAMED_S: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSlot:
    """One budget for one spender in one period.

    Args:
        key: Names it in the store, such as ``project:invoices:day:2026-11-23``.
        limit: Units that may be spent; None sets no limit.
        soft: Units from which a person is asked; None never asks.
        start: When its period begins, in seconds since 1970.
        end: When it ends.
        forget_at: When the store may forget it.
    """

    key: str
    limit: int | None = None
    soft: int | None = None
    start: float = -inf
    end: float = inf
    forget_at: float = inf


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotStanding:
    """The state of a slot.

    Args:
        spent: Units that calls took.
        reserved: Units that are set aside for calls under way.
        extra: Units by which a person has raised its limit and its soft limit.
        unpriced: Calls of which nobody knows what they took; what was set aside for them is in `spent`.
        is_approved: Whether a person has let it go on beyond the soft limit.
    """

    key: str
    spent: int = 0
    reserved: int = 0
    extra: int = 0
    unpriced: int = 0
    is_approved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Money that is set aside for one call, in all slots alike. Without a settlement it returns at its end.

    Args:
        lease_id: Names it; a caller that asks again with the same id gets the same lease.
        slots: Where it is set aside.
        amount: Units.
        seconds: How long it lasts.
    """

    lease_id: str
    slots: tuple[BudgetSlot, ...]
    amount: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """No lease is given, and nothing was changed.

    Args:
        reason: The reason for the refusal.
        slot: The one that refuses.
    """

    reason: RefusalReason
    slot: BudgetSlot
    standing: SlotStanding


@dataclass(frozen=True, slots=True)
class OtherPeriod:
    """A slot is of a period in which the store is not: ask again with slots of its time.

    Args:
        now: Seconds since 1970, by the clock of the store.
    """

    now: float


@dataclass(frozen=True, slots=True)
class CallCharge:
    """The charge for a call.

    Args:
        is_unpriced: Whether nobody knows the cost, so that what was set aside is charged.
    """

    cost: int
    is_unpriced: bool = False


NOTHING = CallCharge(0)


def named_charge(lease: Lease, charge_id: str) -> Lease:
    """A lease under an id that another process can tell, kept until nobody charges it again."""
    return replace(lease, lease_id=charge_id, seconds=max(lease.seconds, NAMED_S))


class BudgetStore(Protocol):
    """Keeps budgets for everybody who asks it. All of it may be called from any thread.

    Every verb raises StoreError where the store cannot be reached, or not written.
    """

    def now(self) -> float:
        """Seconds since 1970 by its clock, as far as that is known here."""

    def reserve(
        self, lease: Lease, /, *, flexible: bool, refuses_unknown: bool
    ) -> Lease | Refusal | OtherPeriod:
        """Set a lease aside in all of its slots, or in none.

        Args:
            flexible: Whether less is enough, as long as anything is left.
            refuses_unknown: Whether a slot with unpriced calls refuses.

        Returns:
            The lease, with what was set aside; or why there is none.
        """

    def settle(self, lease: Lease, charge: CallCharge, /, *, before: CallCharge = NOTHING) -> None:
        """Charge what a call took in the place of what was set aside. Twice the same charges once.

        Args:
            lease: Of the call; one that has ended, or was never reserved, is charged all the same.
            charge: What it took. A later one corrects it.
            before: What the caller charged for this lease before.
        """

    def renew(self, lease: Lease, /) -> bool:
        """Let a lease last its seconds from now on; False where it has ended or was settled."""

    def spent(self, keys: Sequence[str] | None = None, /) -> list[SlotStanding]:
        """Returns the state of slots: all that the store knows, or those that are named, in their order."""

    def change(self, key: str, /, *, extra: int = 0, approve: bool = False, reset: bool = False) -> None:
        """Records what a person decides about a slot.

        Args:
            extra: Units to add to its limits, or to take away.
            approve: Let it go on beyond the soft limit.
            reset: Forget first what was spent, added and approved; leases under way stay.
        """

    def close(self) -> None:
        """Let connections go."""


def judged(
    lease: Lease,
    standings: Sequence[SlotStanding],
    *,
    flexible: bool,
    refuses_unknown: bool,
) -> int | Refusal:
    """The rule of every store: the units that are set aside, or why none are.

    Args:
        standings: How its slots stand, in their order.
        flexible: As for `BudgetStore.reserve`.
    """
    amount = lease.amount
    reasons: dict[RefusalReason, Refusal] = {}
    for slot, standing in zip(lease.slots, standings, strict=True):
        used = standing.spent + standing.reserved
        reason = None
        if slot.limit is not None:
            rest = slot.limit + standing.extra - used
            if rest <= 0 if flexible else lease.amount > rest:
                reason = RefusalReason.LIMIT
            amount = min(amount, rest)
        if reason is None and refuses_unknown and standing.unpriced > 0:
            reason = RefusalReason.UNKNOWN
        if reason is None and slot.soft is not None and not standing.is_approved:
            reason = RefusalReason.ASK if used >= slot.soft + standing.extra else None
        if reason is not None:
            reasons.setdefault(reason, Refusal(reason=reason, slot=slot, standing=standing))
    return next((reasons[reason] for reason in RefusalReason if reason in reasons), amount)
