"""The steps of a decision's life, each in a write transaction that the caller opens and commits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ebbtide.decision_log.record.counters import FLAGGED
from ebbtide.decision_log.record.events import EventKind
from ebbtide.decision_log.record.folding import opening_body, settled, taken_body
from ebbtide.decision_log.record.identifiers import is_id, origin_id
from ebbtide.decision_log.record.record import (
    Decision,
    DecisionScope,
    Link,
    Mode,
    Occurrence,
    Relation,
    Review,
    Status,
)
from ebbtide.decision_log.record.wire import to_wire
from ebbtide.decision_log.store.rows import column_text
from ebbtide.decision_log.store.transaction import CountKey, Transaction
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate
from ebbtide.errors import LifecycleError

_UNSETTLED = (Status.OPENED, Status.ABANDONED)


def open_decision(
    tx: Transaction,
    scope: DecisionScope,
    candidate: Candidate,
    at: float,
    *,
    objection: tuple[Assessment, Mode] | None = None,
) -> Decision:
    """Somebody begins to think about something; `objection`, which was overruled, is counted."""
    body = opening_body(candidate, scope.session)
    if objection is not None:
        assessment, mode = objection
        body["counted"] = _count_body(candidate, assessment, mode)
        for key in verdict_keys(scope, candidate, assessment, mode.value, "opened")[1:]:
            tx.count(key)
    decision = _append_first(tx, scope, EventKind.OPENED, at, body, candidate=candidate)
    tx.save(decision, new=True)
    return decision


def add_thought(tx: Transaction, decision: Decision, text: str, at: float) -> Decision:
    """A thought is noted.

    Raises:
        LifecycleError: It is final already.
    """
    _require_status(decision, _UNSETTLED, "thought about")
    decision = tx.happen(decision, EventKind.THOUGHT, at, {"text": text})
    tx.save(decision)
    return decision


def settle_opened(tx: Transaction, decision: Decision, taken: Decision) -> Decision:
    """Takes a decision that was opened: it is kept, or goes into quarantine.

    Args:
        tx: The transaction.
        decision: As it is now.
        taken: As it is taken; what it does not state stays.

    Raises:
        LifecycleError: It is final already.
    """
    _require_status(decision, _UNSETTLED, "finalized")
    stream, at = (decision.scope.tenant, decision.scope.agent), taken.settled_at or 0.0
    event = tx.append(stream, EventKind.FINALIZED, decision.id, at, taken_body(taken))
    decision = _settle(tx, decision, taken, event.seq)
    tx.save(decision)
    return decision


def settle_at_once(tx: Transaction, taken: Decision) -> Decision:
    """Takes a decision in one step."""
    body, scope = taken_body(taken), taken.scope
    if scope.session is not None:
        body["session"] = scope.session
    at = taken.settled_at or 0.0
    decision = _append_first(tx, scope, EventKind.FINALIZED, at, body, candidate=taken.candidate)
    decision = _settle(tx, decision, taken, decision.version)
    tx.save(decision, new=True)
    return decision


def quarantine(
    tx: Transaction, decision: Decision, assessment: Assessment, at: float, *, by: str, why: str
) -> Decision:
    """A clean-up puts a decision into quarantine.

    Raises:
        LifecycleError: It is not kept.
    """
    _require_status(decision, (Status.KEPT, Status.SUPERSEDED), "put into quarantine")
    body = {"status": Status.QUARANTINED.value, "assessment": assessment.to_dict(), "by": by, "why": why}
    decision = tx.happen(decision, EventKind.ASSESSED, at, body)
    count_verdict(tx, decision, assessment, "cleanup", "quarantined")
    tx.save(decision)
    return decision


def restore(
    tx: Transaction, decision: Decision, at: float, *, by: str, why: str, undo: bool = False
) -> Decision:
    """A decision comes back from the quarantine; with `undo`, nobody says that it is one.

    Raises:
        LifecycleError: It is not in quarantine.
    """
    _require_status(decision, (Status.QUARANTINED,), "restored")
    body: dict[str, Any] = {"by": by, "why": why}
    if undo:
        body["undo"] = True
    decision = tx.happen(decision, EventKind.RESTORED, at, body)
    if decision.superseded_by is not None:
        decision = tx.happen(decision, EventKind.SUPERSEDED, at, {"by": decision.superseded_by, "why": why})
    tx.save(decision)
    return decision


def abandon(tx: Transaction, decision: Decision, at: float) -> Decision:
    """A decision that was opened and never taken is given up."""
    decision = tx.happen(decision, EventKind.ABANDONED, at, {"opened_at": decision.opened_at})
    tx.save(decision)
    return decision


def add_link(tx: Transaction, decision: Decision, link: Link, at: float) -> Decision:
    """A relation is noted; noting it again changes nothing."""
    _require_status(decision, tuple(set(Status) - {Status.PURGED}), "linked")
    if any((each.relation, each.to) == (link.relation, link.to) for each in decision.links):
        return decision
    decision = tx.happen(decision, EventKind.LINKED, at, to_wire(link))
    tx.save(decision)
    return decision


def supersede(tx: Transaction, old: Decision, new: Decision, at: float, *, why: str) -> Decision:
    """A decision takes the place of another one.

    Raises:
        LifecycleError: One of them is not kept, or both are the same.
    """
    if old.id == new.id:
        raise LifecycleError(f"decision {old.id}: it cannot supersede itself")
    if old.superseded_by == new.id:
        return old
    _require_status(new, (Status.KEPT,), "made to supersede another one")
    _require_status(old, (Status.KEPT,), "superseded")
    add_link(tx, new, Link(relation=Relation.SUPERSEDES, to=old.id, why=why), at)
    old = tx.happen(old, EventKind.SUPERSEDED, at, {"by": new.id, "why": why})
    tx.save(old)
    return old


def add_review(tx: Transaction, decision: Decision, review: Review, at: float) -> Decision:
    """Somebody says how it turned out."""
    _require_status(decision, tuple(set(Status) - {Status.OPENED, Status.PURGED}), "reviewed")
    decision = tx.happen(decision, EventKind.REVIEWED, at, to_wire(review))
    tx.save(decision)
    return decision


def add_occurrence(
    tx: Transaction,
    original: Decision,
    occurrence: Occurrence,
    at: float,
    *,
    to_count: tuple[Candidate, Assessment, Mode] | None = None,
) -> Decision:
    """A duplicate was refused: its original counts it and keeps what it said.

    Args:
        tx: The transaction.
        original: What it is a duplicate of.
        occurrence: What it said.
        at: When.
        to_count: What is to be counted: the candidate, what is against it, and the mode. None where the
            duplicate has a record of its own, which counts.
    """
    body: dict[str, Any] = to_wire(occurrence)
    if to_count is not None:
        candidate, assessment, mode = to_count
        body["counted"] = _count_body(candidate, assessment, mode)
        for key in verdict_keys(original.scope, candidate, assessment, mode.value, "duplicate"):
            tx.count(key)
    original = tx.happen(original, EventKind.OCCURRED_AGAIN, at, body)
    tx.save(original)
    return original


def add_imported(tx: Transaction, arrival: Decision, now: float) -> tuple[str, bool]:
    """Brings in a decision of another log; one that is there already is left as it is.

    Returns:
        Its id, and True where it is new.
    """
    scope = arrival.scope
    opened_at = arrival.settled_at if arrival.opened_at is None else arrival.opened_at
    if opened_at is None and arrival.status is Status.OPENED:
        opened_at = now  # else it would never be given up
    settled_at = arrival.settled_at
    if settled_at is None and arrival.status is not Status.OPENED:
        settled_at = opened_at
    origin, identifier = arrival.origin, arrival.id
    if identifier and not is_id(identifier):
        origin, identifier = origin or identifier, ""
    if not identifier and origin is not None:
        identifier = origin_id(scope.tenant, scope.agent, origin, opened_at)
    tx.lock(scope.tenant, scope.agent)
    if not identifier:
        identifier = tx.new_id(scope.tenant, scope.agent, now if opened_at is None else opened_at)
    elif tx.exists(scope.tenant, identifier):
        return identifier, False
    decision = replace(
        arrival, id=identifier, opened_at=opened_at, settled_at=settled_at, origin=origin, version=0
    )
    tx.save(tx.happen(decision, EventKind.IMPORTED, now, {"state": to_wire(decision)}), new=True)
    return identifier, True


def count_verdict(
    tx: Transaction, decision: Decision, assessment: Assessment | None, mode: str, verdict: str
) -> None:
    """Count what became of a candidate: once by itself, and once by each rule that fired against it."""
    for key in verdict_keys(decision.scope, decision.candidate, assessment, mode, verdict):
        tx.count(key)


def verdict_keys(
    scope: DecisionScope, candidate: Candidate, assessment: Assessment | None, mode: str, verdict: str
) -> list[CountKey]:
    """Under what a verdict is counted; the empty rule is the verdict itself."""
    first = CountKey(
        scope.tenant, scope.agent, candidate.source.value, column_text(candidate.frame), mode, "", "", verdict
    )
    if assessment is None or assessment.keep:
        return [first]
    # Under FLAGGED it counts once, however many rules fired.
    fired = {("", FLAGGED)} | {
        (rule.layer.value, column_text(rule.id)) for rule in assessment.rules if rule.weight > 0
    }
    if assessment.primary is not None:
        fired.add((assessment.primary.layer.value, column_text(assessment.primary.id)))
    return [first, *(first._replace(layer=layer, rule=rule) for layer, rule in sorted(fired))]


def _append_first(
    tx: Transaction,
    scope: DecisionScope,
    kind: EventKind,
    at: float,
    body: dict[str, Any],
    *,
    candidate: Candidate,
) -> Decision:
    identifier = tx.new_id(scope.tenant, scope.agent, at)
    event = tx.append((scope.tenant, scope.agent), kind, identifier, at, body)
    return Decision(
        id=identifier,
        scope=scope,
        candidate=candidate,
        status=Status.OPENED,
        opened_at=at,
        question=candidate.description if kind is EventKind.OPENED else None,
        version=event.seq,
    )


def _settle(tx: Transaction, decision: Decision, taken: Decision, version: int) -> Decision:
    """The decision that was taken, as `folding.apply` makes it of its events.

    This is what most calls do. The events are not read back for it; a test compares the two.
    """
    stream, at = (decision.scope.tenant, decision.scope.agent), taken.settled_at or 0.0
    for link in taken.links:
        version = tx.append(stream, EventKind.LINKED, decision.id, at, to_wire(link)).seq
    decision = replace(settled(decision, taken, version), links=(*decision.links, *taken.links))
    mode = "none" if taken.mode is None else taken.mode.value
    count_verdict(tx, decision, taken.assessment, mode, taken.status.value)
    return decision


def _count_body(candidate: Candidate, assessment: Assessment, mode: Mode) -> dict[str, Any]:
    """The body from which `ebbtide.decision_log.log.erasing.count_keys` counts."""
    about = {"source": candidate.source.value, "frame": candidate.frame}
    return {"candidate": about, "assessment": assessment.to_dict(), "mode": mode.value}


def _require_status(decision: Decision, allowed: tuple[Status, ...], what: str) -> None:
    if decision.status not in allowed:
        raise LifecycleError(f"decision {decision.id} is {decision.status.value}: it cannot be {what}")
