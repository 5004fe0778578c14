"""Verdicts by the keys under which they are counted: as they are given, and again from their events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ebbtide.decision_log.record.counters import FLAGGED
from ebbtide.decision_log.record.events import EventKind, LogEvent
from ebbtide.decision_log.record.folding import apply
from ebbtide.decision_log.record.record import Decision, DecisionScope, Mode
from ebbtide.decision_log.record.wire import from_wire
from ebbtide.decision_log.store.rows import column_text
from ebbtide.decision_log.store.transaction import CountKey
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate


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


def count_body(candidate: Candidate, assessment: Assessment, mode: Mode) -> dict[str, Any]:
    """The part of the body of an event from which `count_keys` counts what has no record."""
    about = {"source": candidate.source.value, "frame": candidate.frame}
    return {"candidate": about, "assessment": assessment.to_dict(), "mode": mode.value}


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
