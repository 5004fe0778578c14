"""The steps of a decision's life, each in a write transaction that the caller opens and commits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ebbtide.decision_log.record.counters import FLAGGED
from ebbtide.decision_log.record.entry import Entry
from ebbtide.decision_log.record.events import EventKind
from ebbtide.decision_log.record.folding import opening_body
from ebbtide.decision_log.record.identifiers import is_id, origin_id
from ebbtide.decision_log.record.particulars import Particulars
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A decision that is taken, and what becomes of it.

    Args:
        candidate: What it says.
        at: When, in seconds since the epoch.
        verdict: Where it stands from now on: kept, or in quarantine.
        assessment: What the gate made of it; None where it was not asked.
        mode: What the gate was allowed to do; None where it was not asked.
        prediction: What is expected to happen; None keeps what was said before.
        review_by: When somebody should look; None keeps what was said before.
        particulars: What its record says beside; None keeps what was said before.
        forced: Whether it is kept over the objection of the gate.
        links: How it stands to others.
    """

    candidate: Candidate
    at: float
    verdict: Status = Status.KEPT
    assessment: Assessment | None = None
    mode: Mode | None = None
    prediction: str | None = None
    review_by: float | None = None
    particulars: Particulars | None = None
    forced: bool = False
    links: tuple[Link, ...] = ()


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


def settle_opened(tx: Transaction, decision: Decision, settlement: Settlement) -> Decision:
    """A decision that was opened is taken, and kept or put into quarantine.

    Raises:
        LifecycleError: It is final already.
    """
    _require_status(decision, _UNSETTLED, "finalized")
    scope = decision.scope
    stream = (scope.tenant, scope.agent)
    event = tx.append(stream, EventKind.FINALIZED, decision.id, settlement.at, _settlement_body(settlement))
    decision = _apply_settlement(tx, decision, settlement, event.seq)
    tx.save(decision)
    return decision


def settle_at_once(tx: Transaction, scope: DecisionScope, settlement: Settlement) -> Decision:
    """A decision is taken in one step."""
    body = _settlement_body(settlement)
    if scope.session is not None:
        body["session"] = scope.session
    decision = _append_first(
        tx, scope, EventKind.FINALIZED, settlement.at, body, candidate=settlement.candidate
    )
    decision = _apply_settlement(tx, decision, settlement, decision.version)
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
    body = {"verdict": Status.QUARANTINED.value, "assessment": assessment.to_dict(), "by": by, "why": why}
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


def import_entry(tx: Transaction, scope: DecisionScope, entry: Entry, now: float) -> tuple[str, bool]:
    """An entry from another log; one that is there already is left as it is.

    Returns:
        Its id, and whether it is new.
    """
    opened_at = entry.settled_at if entry.opened_at is None else entry.opened_at
    if opened_at is None and entry.status is Status.OPENED:
        opened_at = now  # else it would never be given up
    settled_at = entry.settled_at
    if settled_at is None and entry.status is not Status.OPENED:
        settled_at = opened_at
    origin, identifier = entry.origin, entry.id
    if identifier is not None and not is_id(identifier):
        origin, identifier = origin or identifier, None
    if identifier is None and origin is not None:
        identifier = origin_id(scope.tenant, scope.agent, origin, opened_at)
    tx.lock(scope.tenant, scope.agent)
    if identifier is None:
        identifier = tx.new_id(scope.tenant, scope.agent, now if opened_at is None else opened_at)
    elif tx.exists(scope.tenant, identifier):
        return identifier, False
    decision = Decision(
        id=identifier,
        scope=scope,
        candidate=entry.candidate,
        status=entry.status,
        opened_at=opened_at,
        settled_at=settled_at,
        question=entry.question,
        thoughts=entry.thoughts,
        assessment=entry.assessment,
        mode=entry.mode,
        links=entry.links,
        superseded_by=entry.superseded_by,
        reviews=entry.reviews,
        review_by=entry.review_by,
        prediction=entry.prediction,
        occurrences=entry.occurrences,
        again=entry.again,
        forced=entry.forced,
        restored=entry.restored,
        origin=origin,
        document=entry.document,
        particulars=entry.particulars,
        amended=entry.amended,
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


def _apply_settlement(tx: Transaction, decision: Decision, settlement: Settlement, version: int) -> Decision:
    """What a decision that was taken is then: what `folding.apply` makes of its events.

    This is what most calls do. The events are not read back for it; a test compares the two.
    """
    stream = (decision.scope.tenant, decision.scope.agent)
    for link in settlement.links:
        version = tx.append(stream, EventKind.LINKED, decision.id, settlement.at, to_wire(link)).seq
    decision = replace(
        decision,
        candidate=settlement.candidate,
        status=settlement.verdict,
        settled_at=settlement.at,
        assessment=decision.assessment if settlement.assessment is None else settlement.assessment,
        mode=decision.mode if settlement.mode is None else settlement.mode,
        prediction=decision.prediction if settlement.prediction is None else settlement.prediction,
        review_by=decision.review_by if settlement.review_by is None else settlement.review_by,
        particulars=decision.particulars if settlement.particulars is None else settlement.particulars,
        forced=settlement.forced,
        links=(*decision.links, *settlement.links),
        version=version,
    )
    mode = "none" if settlement.mode is None else settlement.mode.value
    count_verdict(tx, decision, settlement.assessment, mode, settlement.verdict.value)
    return decision


def _settlement_body(settlement: Settlement) -> dict[str, Any]:
    body: dict[str, Any] = {
        "candidate": to_wire(settlement.candidate),
        "verdict": settlement.verdict.value,
    }
    if settlement.assessment is not None:
        body["assessment"] = settlement.assessment.to_dict()
    if settlement.mode is not None:
        body["mode"] = settlement.mode.value
    if settlement.prediction is not None:
        body["prediction"] = settlement.prediction
    if settlement.review_by is not None:
        body["review_by"] = settlement.review_by
    if settlement.particulars is not None:
        body["particulars"] = to_wire(settlement.particulars)
    if settlement.forced:
        body["forced"] = True
    return body


def _count_body(candidate: Candidate, assessment: Assessment, mode: Mode) -> dict[str, Any]:
    """What a count in `ebbtide.decision_log.log.erasing.count_keys` is made of."""
    about = {"source": candidate.source.value, "frame": candidate.frame}
    return {"candidate": about, "assessment": assessment.to_dict(), "mode": mode.value}


def _require_status(decision: Decision, allowed: tuple[Status, ...], what: str) -> None:
    if decision.status not in allowed:
        raise LifecycleError(f"decision {decision.id} is {decision.status.value}: it cannot be {what}")
