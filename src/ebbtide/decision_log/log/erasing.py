"""Texts go, the fact that they were there stays: retention, and erasure on request."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ebbtide.decision_log.log.steps import verdict_keys
from ebbtide.decision_log.record.events import EventKind, LogEvent, StoredEvent
from ebbtide.decision_log.record.folding import apply, tombstone, without_occurrence
from ebbtide.decision_log.record.record import Decision, DecisionScope, Relation, Status
from ebbtide.decision_log.record.view import View
from ebbtide.decision_log.record.wire import from_wire, to_wire
from ebbtide.decision_log.store import statements
from ebbtide.decision_log.store.questions import stored_event
from ebbtide.decision_log.store.rows import DamagedRow
from ebbtide.decision_log.store.transaction import CountKey, Transaction
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate
from ebbtide.errors import UnknownDecisionError


def erase(tx: Transaction, decision: Decision, at: float, *, kind: EventKind, by: str, why: str) -> Decision:
    """Take out every text of a decision; its tombstone has the rest."""
    events = _events(tx, decision)
    remainder = tombstone(decision)
    numbers = [event.seq for event in events if event.body is not None]
    body = {
        "by": by,
        "why": why,
        "events": numbers,
        "text_hash": next((event.body_hash for event in events), ""),
        "counted": [[*key[2:], times] for key, times in sorted(count_keys(events).items())],
        "state": to_wire(remainder),
    }
    remainder = tx.happen(remainder, kind, at, body)
    _drop_bodies(tx, decision, numbers)
    tx.forget_subject(decision)
    tx.save(remainder)
    if kind is EventKind.REDACTED:
        for link in decision.links:
            if link.relation is Relation.DUPLICATE_OF:
                _erase_occurrence(tx, decision, link.to, at, by=by, why=why)
    return remainder


def _erase_occurrence(
    tx: Transaction, duplicate: Decision, original_id: str, at: float, *, by: str, why: str
) -> None:
    """Takes the words of a duplicate out of its original, where they stand too."""
    view = View(tenant=duplicate.scope.tenant)
    try:
        original = tx.load(view.tenant, None, original_id)
    except UnknownDecisionError:
        return
    if original.status is Status.PURGED:
        return
    events = _events(tx, original)
    about = [
        event
        for event in events
        if event.body is not None
        and (
            (event.kind is EventKind.OCCURRED_AGAIN and event.body.get("of_id") == duplicate.id)
            or "state" in event.body
        )
    ]
    remainder = without_occurrence(original, duplicate.id)
    numbers = [event.seq for event in about]
    body = {
        "by": by,
        "why": why,
        "of": duplicate.id,
        "events": numbers,
        "counted": [[*key[2:], times] for key, times in sorted(count_keys(about, original).items())],
        "state": to_wire(remainder),
    }
    remainder = tx.happen(remainder, EventKind.REDACTED, at, body)
    _drop_bodies(tx, original, numbers)
    tx.save(remainder)


def _events(tx: Transaction, decision: Decision) -> list[LogEvent]:
    rows = tx.session.rows(
        statements.EVENTS_OF_AGENT, (decision.scope.tenant, decision.id, decision.scope.agent)
    )
    return [read_event(decision.scope.tenant, str(row[0]), stored_event(row)) for row in rows]


def _drop_bodies(tx: Transaction, decision: Decision, numbers: Iterable[int]) -> None:
    scope = decision.scope
    values = [(scope.tenant, scope.agent, decision.id, seq) for seq in numbers]
    tx.session.run_many(statements.ERASE_BODIES, values)


def read_event(tenant: str, agent: str, stored: StoredEvent) -> LogEvent:
    """A stored event, taken at its word.

    Raises:
        StoreError: It is damaged.
    """
    with DamagedRow():
        kind = EventKind(stored.kind)
        body: dict[str, Any] | None = None if stored.body_json is None else json.loads(stored.body_json)
    return LogEvent(
        tenant=tenant,
        agent=agent,
        seq=stored.seq,
        kind=kind,
        decision_id=stored.decision_id,
        ts=stored.ts,
        body=body,
        body_hash=stored.body_hash,
        hash=stored.hash,
    )


def count_keys(events: Iterable[LogEvent], before: Decision | None = None) -> Counter[CountKey]:
    """Counts the events of one decision by their keys, in order; `before` is what it was before them."""
    decision = before
    keys: Counter[CountKey] = Counter()
    for event in events:
        decision = apply(decision, event) if before is None else before
        if event.body is not None:
            keys.update(_counted(event, event.body, decision))
    return keys


def _counted(event: LogEvent, body: dict[str, Any], decision: Decision) -> Counter[CountKey]:
    scope = DecisionScope(tenant=event.tenant, agent=event.agent)
    if "status" in body:
        assessment = None if "assessment" not in body else from_wire(Assessment, body["assessment"])
        mode = body.get("mode", "cleanup" if "by" in body else "none")
        return Counter(verdict_keys(scope, decision.candidate, assessment, mode, body["status"]))
    if event.kind in {EventKind.OCCURRED_AGAIN, EventKind.OPENED} and "counted" in body:
        candidate: Candidate = from_wire(Candidate, {"description": "", **body["counted"]["candidate"]})
        assessment = from_wire(Assessment, body["counted"]["assessment"])
        mode = body["counted"]["mode"]
        if event.kind is EventKind.OPENED:
            return Counter(verdict_keys(scope, candidate, assessment, mode, "opened")[1:])
        return Counter(verdict_keys(scope, candidate, assessment, mode, "duplicate"))
    if "counted" in body:
        return Counter(
            {
                CountKey(event.tenant, event.agent, *row[:-1]): row[-1]
                for row in body["counted"]
                if isinstance(row, list)
            }
        )
    return Counter()
