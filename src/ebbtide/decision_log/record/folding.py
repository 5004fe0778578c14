"""Events in, the decision out: what stands in the log is the fold of what happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ebbtide.decision_log.record.events import EventKind, LogEvent
from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import Decision, DecisionScope, Link, Occurrence, Review, Status
from ebbtide.decision_log.record.wire import from_wire, to_wire
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate

#: Refused duplicates that a decision shows; all of them are counted, and all are in its events.
SHOWN = 20

_NOBODY = Candidate(description="")


def fold(events: Iterable[LogEvent]) -> Decision | None:
    """The decision after its events, in order; None where there are none."""
    decision: Decision | None = None
    for event in events:
        decision = apply(decision, event)
    return decision


def apply(decision: Decision | None, event: LogEvent) -> Decision:
    """The decision after one more event.

    Args:
        decision: It before; None where this is its first event.
        event: What happened. Where its body is gone, only the number is taken: a later event says what is
            left.
    """
    body, seq = event.body, event.seq
    if decision is None:
        decision = _born(event)
    if body is None:
        return replace(decision, version=seq)
    kind = event.kind
    if kind is EventKind.OPENED:
        return replace(decision, version=seq)
    if kind is EventKind.THOUGHT:
        return replace(decision, thoughts=(*decision.thoughts, body["text"]), version=seq)
    if kind is EventKind.FINALIZED:
        return settled(decision, from_wire(Decision, {**body, "settled_at": event.at}), seq)
    if kind is EventKind.ASSESSED:
        status = Status(body["status"])
        return replace(
            decision,
            status=status,
            restored=decision.restored and status is not Status.QUARANTINED,
            assessment=from_wire(Assessment, body["assessment"]),
            version=seq,
        )
    if kind is EventKind.ABANDONED:
        return replace(decision, status=Status.ABANDONED, settled_at=event.at, version=seq)
    if kind is EventKind.LINKED:
        return replace(decision, links=(*decision.links, from_wire(Link, body)), version=seq)
    if kind is EventKind.AMENDED:
        return replace(with_amendment(decision, body["after"]), version=seq)
    if kind is EventKind.SUPERSEDED:
        return replace(decision, status=Status.SUPERSEDED, superseded_by=body["by"], version=seq)
    if kind is EventKind.REVIEWED:
        return replace(decision, reviews=(*decision.reviews, from_wire(Review, body)), version=seq)
    if kind is EventKind.OCCURRED_AGAIN:
        again = (*decision.again, from_wire(Occurrence, body))[-SHOWN:]
        return replace(decision, again=again, occurrences=decision.occurrences + 1, version=seq)
    if kind is EventKind.RESTORED:
        return replace(decision, status=Status.KEPT, restored=not body.get("undo", False), version=seq)
    # What is left says all of it: IMPORTED, REDACTED, PURGED.
    return replace(from_wire(Decision, body["state"]), version=seq)


def with_amendment(decision: Decision, after: Mapping[str, Any]) -> Decision:
    """A decision with the fields of its particulars that an event gives."""
    before = decision.particulars
    table = {} if before is None else to_wire(before)
    particulars = from_wire(Particulars, {**table, **after})
    candidate = decision.candidate
    if "options" in after:
        titles = (option.title for option in particulars.options)
        candidate = replace(candidate, options=tuple(dict.fromkeys((*candidate.options, *titles))))
    amended = tuple(sorted({*decision.amended, *after}))
    return replace(decision, particulars=particulars, amended=amended, candidate=candidate)


_STAYS = ("assessment", "mode", "prediction", "review_by", "particulars")
_TAKEN = frozenset({"candidate", "status", "forced", *_STAYS})


def settled(decision: Decision, taken: Decision, version: int) -> Decision:
    """An open decision as it was taken; what is not stated anew stays."""
    anew = {name: value for name in _STAYS if (value := getattr(taken, name)) is not None}
    return replace(
        decision,
        candidate=taken.candidate,
        status=taken.status,
        settled_at=taken.settled_at,
        forced=taken.forced,
        version=version,
        **anew,
    )


def taken_body(taken: Decision) -> dict[str, Any]:
    """The body of the event with which a decision is taken."""
    return {key: value for key, value in to_wire(taken).items() if key in _TAKEN}


def _born(event: LogEvent) -> Decision:
    body: dict[str, Any] = event.body or {}
    opened = event.kind is EventKind.OPENED
    candidate = from_wire(Candidate, body["candidate"]) if "candidate" in body else _NOBODY
    return Decision(
        id=event.decision_id,
        scope=DecisionScope(tenant=event.tenant, agent=event.agent, session=body.get("session")),
        candidate=candidate,
        status=Status.OPENED,
        opened_at=event.at,
        question=candidate.description if opened and "candidate" in body else None,
        prediction=body.get("prediction"),
        review_by=body.get("review_by"),
        origin=body.get("origin"),
        version=event.seq,
    )


def tombstone(decision: Decision) -> Decision:
    """Returns a decision without its texts: times, the rules that fired and the outcome stay."""
    candidate = decision.candidate
    return replace(
        decision,
        status=Status.PURGED,
        candidate=replace(candidate, description="", options=(), reasons=(), assumptions=()),
        question=None,
        thoughts=(),
        prediction=None,
        origin=None,
        document=None,
        particulars=_without_texts(decision.particulars),
        assessment=_without_words(decision.assessment),
        links=tuple(replace(link, why="") for link in decision.links),
        reviews=tuple(replace(review, evidence="") for review in decision.reviews),
        again=tuple(replace(each, text="", reasons=(), thoughts=()) for each in decision.again),
    )


def _without_texts(particulars: Particulars | None) -> Particulars | None:
    return None if particulars is None else Particulars(standing=particulars.standing)


def without_occurrence(decision: Decision, of_id: str) -> Decision:
    """A decision without the words of one duplicate of it."""
    again = tuple(
        replace(each, text="", reasons=(), thoughts=()) if each.of_id == of_id else each
        for each in decision.again
    )
    return replace(decision, again=again)


def _without_words(assessment: Assessment | None) -> Assessment | None:
    if assessment is None:
        return None
    rules = tuple(replace(rule, phrase="") for rule in assessment.rules)
    primary = None if assessment.primary is None else replace(assessment.primary, phrase="")
    return replace(assessment, rules=rules, primary=primary)


def opening_body(candidate: Candidate, session: str | None, **facts: str | float | None) -> dict[str, Any]:
    """The body of a first event; what is not known is left out."""
    body: dict[str, Any] = {"candidate": to_wire(candidate)}
    if session is not None:
        body["session"] = session
    body.update({key: value for key, value in facts.items() if value is not None})
    return body
