"""What a record says beside a decision is changed, and the log keeps what it said before."""

from __future__ import annotations

from typing import Any

from ebbtide.decision_log.events import EventKind
from ebbtide.decision_log.particulars import Particulars
from ebbtide.decision_log.record import Decision, Status
from ebbtide.decision_log.store.transaction import Transaction
from ebbtide.decision_log.wire import to_wire
from ebbtide.errors import LifecycleError

_AMENDABLE = frozenset({Status.OPENED, Status.KEPT, Status.SUPERSEDED})


def amend(
    tx: Transaction,
    decision: Decision,
    change: Particulars,
    at: float,
    *,
    why: str = "",
    version: int | None = None,
) -> Decision:
    """Change the particulars of a decision; saying the same again changes nothing.

    Args:
        tx: The transaction.
        decision: As it is now.
        change: Texts that take the place of those that are there, and lists that are added to them.
        at: When, in seconds since the epoch.
        why: Why.
        version: Only if the decision has this version still.

    Raises:
        LifecycleError: It has another version, is neither kept nor open nor superseded, or is superseded and
            would get a standing.
    """
    if decision.status not in _AMENDABLE:
        raise LifecycleError(f"decision {decision.id} is {decision.status.value}: it cannot be amended")
    if change.standing is not None and decision.status is Status.SUPERSEDED:
        raise LifecycleError(
            f"decision {decision.id} is superseded: it cannot be {change.standing.value} too"
        )
    if version not in (None, decision.version):
        raise LifecycleError(
            f"decision {decision.id} has version {decision.version} now, not {version}: somebody changed it; "
            "look at it again"
        )
    before = decision.particulars or Particulars()
    after = before.amended_by(change)
    names = before.differences(after)
    if not names:
        return decision
    body: dict[str, Any] = {
        side: {name: value for name, value in to_wire(particulars).items() if name in names}
        for side, particulars in (("before", before), ("after", after))
    }
    decision = tx.happen(decision, EventKind.AMENDED, at, {**body, "why": why} if why else body)
    tx.save(decision)
    return decision
