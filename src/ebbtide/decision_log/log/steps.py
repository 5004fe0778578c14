"""The steps of a decision's life, each in a write transaction that the caller opens and commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ebbtide.decision_log.log.counting import count_body, count_keys, verdict_keys
from ebbtide.decision_log.record.events import EventKind, LogEvent
from ebbtide.decision_log.record.folding import (
    opening_body,
    settled,
    taken_body,
    tombstone,
    without_occurrence,
)
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
from ebbtide.decision_log.record.view import View
from ebbtide.decision_log.record.wire import to_wire
from ebbtide.decision_log.store import questions, statements
from ebbtide.decision_log.store.transaction import CountKey, Transaction
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate
from ebbtide.errors import LifecycleError, UnknownDecisionError

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
        body["counted"] = count_body(candidate, assessment, mode)
        tx.count(verdict_keys(scope, candidate, assessment, mode.value, "opened")[1:])
    decision = _append_first(tx, scope, EventKind.OPENED, at, body, candidate=candidate)
    tx.save(decision, new=True)
    return decision


def add_thought(tx: Transaction, decision: Decision, text: str, at: float) -> Decision:
    """A thought is noted.

    Raises:
        LifecycleError: It is final already.
    """
    _require_status(decision, _UNSETTLED, "thought about")
    return tx.happen(decision, EventKind.THOUGHT, at, {"text": text})


def settle(tx: Transaction, taken: Decision, opened: Decision | None = None) -> Decision:
    """Takes a decision: it is kept, or goes into quarantine.

    The result is what `folding.apply` makes of the events. This is what most calls do, and to read the events
    back would cost a fifth of it; a test compares the two.

    Args:
        tx: The transaction.
        taken: As it is taken; what it does not state stays.
        opened: As it is now; None where nobody opened it.

    Raises:
        LifecycleError: It is final already.
    """
    body, at = taken_body(taken), taken.settled_at or 0.0
    if opened is None:
        if taken.scope.session is not None:
            body["session"] = taken.scope.session
        decision = _append_first(tx, taken.scope, EventKind.FINALIZED, at, body, candidate=taken.candidate)
        version = decision.version
    else:
        _require_status(opened, _UNSETTLED, "finalized")
        decision = opened
        stream = (opened.scope.tenant, opened.scope.agent)
        version = tx.append(stream, EventKind.FINALIZED, opened.id, at, body).seq
    scope = decision.scope
    for link in taken.links:
        link_event = tx.append((scope.tenant, scope.agent), EventKind.LINKED, decision.id, at, to_wire(link))
        version = link_event.seq
    decision = replace(settled(decision, taken, version), links=(*decision.links, *taken.links))
    mode = "none" if taken.mode is None else taken.mode.value
    tx.count(verdict_keys(scope, decision.candidate, taken.assessment, mode, taken.status.value))
    tx.save(decision, new=opened is None)
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
    tx.count(verdict_keys(decision.scope, decision.candidate, assessment, "cleanup", "quarantined"))
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
    return decision


def abandon(tx: Transaction, decision: Decision, at: float) -> Decision:
    """A decision that was opened and never taken is given up."""
    return tx.happen(decision, EventKind.ABANDONED, at, {"opened_at": decision.opened_at})


def add_link(tx: Transaction, decision: Decision, link: Link, at: float) -> Decision:
    """A relation is noted; noting it again changes nothing."""
    _require_status(decision, tuple(set(Status) - {Status.PURGED}), "linked")
    if any((each.relation, each.to) == (link.relation, link.to) for each in decision.links):
        return decision
    return tx.happen(decision, EventKind.LINKED, at, to_wire(link))


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
    return tx.happen(old, EventKind.SUPERSEDED, at, {"by": new.id, "why": why})


def add_review(tx: Transaction, decision: Decision, review: Review, at: float) -> Decision:
    """Somebody says how it turned out."""
    _require_status(decision, tuple(set(Status) - {Status.OPENED, Status.PURGED}), "reviewed")
    return tx.happen(decision, EventKind.REVIEWED, at, to_wire(review))


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
        body["counted"] = count_body(candidate, assessment, mode)
        tx.count(verdict_keys(original.scope, candidate, assessment, mode.value, "duplicate"))
    return tx.happen(original, EventKind.OCCURRED_AGAIN, at, body)


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
    tx.happen(decision, EventKind.IMPORTED, now, {"state": to_wire(decision)}, new=True)
    return identifier, True


def amend(
    tx: Transaction,
    decision: Decision,
    change: Particulars,
    at: float,
    *,
    why: str,
    version: int | None,
) -> Decision:
    """Change the particulars of a decision; saying the same again changes nothing.

    Args:
        tx: The transaction.
        decision: As it is now.
        change: Texts that take the place of those that are there, and lists that are added to them.
        at: When, in seconds since the epoch.
        version: Only if the decision has this version still.

    Raises:
        LifecycleError: It has another version, is neither kept nor open nor superseded, or is superseded and
            would get a standing.
    """
    _require_status(decision, (Status.OPENED, Status.KEPT, Status.SUPERSEDED), "amended")
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
    return tx.happen(decision, EventKind.AMENDED, at, {**body, "why": why} if why else body)


def erase(tx: Transaction, decision: Decision, at: float, *, kind: EventKind, by: str, why: str) -> Decision:
    """Every text of a decision goes, the fact that it was there stays: its tombstone has the rest."""
    events = questions.events_of(tx.session, _view(decision.scope), decision.id)
    facts = {"by": by, "why": why, "text_hash": next((event.body_hash for event in events), "")}
    tx.forget_subject(decision)
    counted = count_keys(events)
    remainder = _without_bodies(tx, tombstone(decision), events, counted, kind=kind, at=at, **facts)
    if kind is EventKind.REDACTED:
        for link in decision.links:
            if link.relation is Relation.DUPLICATE_OF:
                _erase_occurrence(tx, decision, link.to, at, by=by, why=why)
    return remainder


def _erase_occurrence(
    tx: Transaction, duplicate: Decision, original_id: str, at: float, *, by: str, why: str
) -> None:
    """The words of a duplicate go from its original, where they stand too."""
    try:
        original = tx.load(duplicate.scope.tenant, None, original_id)
    except UnknownDecisionError:
        return
    if original.status is Status.PURGED:
        return
    events = [
        event
        for event in questions.events_of(tx.session, _view(original.scope), original.id)
        if event.body is not None
        and (
            (event.kind is EventKind.OCCURRED_AGAIN and event.body.get("of_id") == duplicate.id)
            or "state" in event.body
        )
    ]
    facts = {"by": by, "why": why, "of": duplicate.id}
    remainder, counted = without_occurrence(original, duplicate.id), count_keys(events, original)
    _without_bodies(tx, remainder, events, counted, kind=EventKind.REDACTED, at=at, **facts)


def _without_bodies(
    tx: Transaction,
    remainder: Decision,
    events: Sequence[LogEvent],
    counted: Counter[CountKey],
    *,
    kind: EventKind,
    at: float,
    **facts: str,
) -> Decision:
    """An event says what is left, and what the others counted; then their bodies go."""
    numbers = [event.seq for event in events if event.body is not None]
    counts = [[*key[2:], times] for key, times in sorted(counted.items())]
    body = {**facts, "events": numbers, "counted": counts, "state": to_wire(remainder)}
    remainder = tx.happen(remainder, kind, at, body)
    scope = remainder.scope
    values = [(scope.tenant, scope.agent, remainder.id, seq) for seq in numbers]
    tx.session.run_many(statements.ERASE_BODIES, values)
    return remainder


def _view(scope: DecisionScope) -> View:
    return View(tenant=scope.tenant, agent=scope.agent)


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


def _require_status(decision: Decision, allowed: tuple[Status, ...], what: str) -> None:
    if decision.status not in allowed:
        raise LifecycleError(f"decision {decision.id} is {decision.status.value}: it cannot be {what}")
