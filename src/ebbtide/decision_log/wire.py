"""Decisions and their parts as plain data that JSON can carry, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ebbtide.decision_log.record import (
    Decision,
    Link,
    Mode,
    Occurrence,
    Outcome,
    Relation,
    Review,
    Scope,
    Status,
)
from ebbtide.decisions.assessment import Assessment, Layer, RuleFired
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, ReasonKind, Source, Stakes
from ebbtide.errors import ConfigError

_T = TypeVar("_T")


def candidate_dict(candidate: Candidate) -> dict[str, Any]:
    """What a candidate says; what nobody said is left out."""
    table: dict[str, Any] = {
        "description": candidate.description,
        "frame": candidate.frame,
        "source": candidate.source.value,
    }
    if candidate.options:
        table["options"] = list(candidate.options)
    if candidate.reasons:
        table["reasons"] = [reason_dict(reason) for reason in candidate.reasons]
    if candidate.assumptions:
        table["assumptions"] = list(candidate.assumptions)
    if candidate.stakes is not None:
        table["stakes"] = candidate.stakes.value
    if candidate.category is not None:
        table["category"] = candidate.category
    if candidate.confidence is not None:
        table["confidence"] = candidate.confidence
    if candidate.confidence_source is not None:
        table["confidence_source"] = candidate.confidence_source.value
    return table


def candidate_from(table: Mapping[str, Any]) -> Candidate:
    """The candidate that `candidate_dict` described.

    Raises:
        ConfigError: It describes none.
    """
    return _read("candidate", lambda: _candidate(table))


def _candidate(table: Mapping[str, Any]) -> Candidate:
    stakes, confidence_source = table.get("stakes"), table.get("confidence_source")
    return Candidate(
        description=table["description"],
        options=tuple(table.get("options", ())),
        reasons=tuple(reason_from(reason) for reason in table.get("reasons", ())),
        assumptions=tuple(table.get("assumptions", ())),
        stakes=None if stakes is None else Stakes(stakes),
        category=table.get("category"),
        confidence=table.get("confidence"),
        confidence_source=None if confidence_source is None else ConfidenceSource(confidence_source),
        frame=table.get("frame", "decision"),
        source=Source(table.get("source", "auto")),
    )


def reason_dict(reason: Reason) -> dict[str, Any]:
    """Why, and what kind of reason that is, where it is known."""
    return {"text": reason.text} if reason.kind is None else {"text": reason.text, "kind": reason.kind.value}


def reason_from(table: Mapping[str, Any]) -> Reason:
    """The reason that `reason_dict` described."""
    kind = table.get("kind")
    return Reason(text=table["text"], kind=None if kind is None else ReasonKind(kind))


def assessment_from(table: Mapping[str, Any]) -> Assessment:
    """The assessment that `Assessment.to_dict` described.

    Raises:
        ConfigError: It describes none.
    """
    return _read("assessment", lambda: _assessment(table))


def _assessment(table: Mapping[str, Any]) -> Assessment:
    rules = tuple(
        RuleFired(
            id=rule["id"],
            layer=Layer(rule["layer"]),
            reason=rule["reason"],
            phrase=rule.get("phrase", ""),
            weight=rule.get("weight", 1.0),
            decides=rule.get("decides", False),
        )
        for rule in table["rules"]
    )
    primary = table.get("primary")
    return Assessment(
        keep=bool(table["keep"]),
        primary=None if primary is None else next(rule for rule in rules if rule.id == primary),
        rules=rules,
        noise=table["noise"],
        choice=table["choice"],
        threshold=table["threshold"],
        profile=table["profile"],
    )


def review_dict(review: Review) -> dict[str, Any]:
    """Every field of a review."""
    return {
        "outcome": review.outcome.value,
        "by": review.by,
        "evidence": review.evidence,
        "ts": review.ts,
        "observed": review.observed,
    }


def review_from(table: Mapping[str, Any]) -> Review:
    """The review that `review_dict` described."""
    return Review(
        outcome=Outcome(table["outcome"]),
        by=table["by"],
        evidence=table.get("evidence", ""),
        ts=table["ts"],
        observed=bool(table.get("observed", False)),
    )


def link_dict(link: Link) -> dict[str, Any]:
    """Every field of a link."""
    return {"relation": link.relation.value, "to": link.to, "why": link.why}


def link_from(table: Mapping[str, Any]) -> Link:
    """The link that `link_dict` described."""
    return Link(relation=Relation(table["relation"]), to=table["to"], why=table.get("why", ""))


def occurrence_dict(occurrence: Occurrence) -> dict[str, Any]:
    """What is known of a duplicate that was refused."""
    return {
        "ts": occurrence.ts,
        "stage": occurrence.stage,
        "text": occurrence.text,
        "measure": occurrence.measure,
        "score": occurrence.score,
        "of_id": occurrence.of_id,
        "reasons": [reason_dict(reason) for reason in occurrence.reasons],
        "thoughts": list(occurrence.thoughts),
    }


def occurrence_from(table: Mapping[str, Any]) -> Occurrence:
    """The occurrence that `occurrence_dict` described."""
    return Occurrence(
        ts=table["ts"],
        stage=table["stage"],
        text=table["text"],
        measure=table["measure"],
        score=table["score"],
        of_id=table.get("of_id"),
        reasons=tuple(reason_from(reason) for reason in table.get("reasons", ())),
        thoughts=tuple(table.get("thoughts", ())),
    )


def decision_dict(decision: Decision) -> dict[str, Any]:
    """A decision with everything that is known of it; what is not known is left out."""
    scope = decision.scope
    table: dict[str, Any] = {
        "id": decision.id,
        "tenant": scope.tenant,
        "agent": scope.agent,
        "session": scope.session,
        "status": decision.status.value,
        "opened_at": decision.opened_at,
        "settled_at": decision.settled_at,
        "version": decision.version,
        "candidate": candidate_dict(decision.candidate),
        "occurrences": decision.occurrences,
    }
    for name in ("asked", "superseded_by", "review_by", "prediction", "origin"):
        value = getattr(decision, name)
        if value is not None:
            table[name] = value
    if decision.thoughts:
        table["thoughts"] = list(decision.thoughts)
    if decision.assessment is not None:
        table["assessment"] = decision.assessment.to_dict()
    if decision.mode is not None:
        table["mode"] = decision.mode.value
    if decision.links:
        table["links"] = [link_dict(link) for link in decision.links]
    if decision.reviews:
        table["reviews"] = [review_dict(review) for review in decision.reviews]
    if decision.again:
        table["again"] = [occurrence_dict(occurrence) for occurrence in decision.again]
    if decision.forced:
        table["forced"] = True
    if decision.restored:
        table["restored"] = True
    return table


def decision_from(table: Mapping[str, Any]) -> Decision:
    """The decision that `decision_dict` described.

    Raises:
        ConfigError: It describes none.
    """
    return _read("decision", lambda: _decision(table))


def _decision(table: Mapping[str, Any]) -> Decision:
    assessment, mode = table.get("assessment"), table.get("mode")
    return Decision(
        id=table["id"],
        scope=Scope(tenant=table["tenant"], agent=table["agent"], session=table.get("session")),
        candidate=_candidate(table["candidate"]),
        status=Status(table["status"]),
        opened_at=table["opened_at"],
        settled_at=table.get("settled_at"),
        asked=table.get("asked"),
        thoughts=tuple(table.get("thoughts", ())),
        assessment=None if assessment is None else _assessment(assessment),
        mode=None if mode is None else Mode(mode),
        links=tuple(link_from(link) for link in table.get("links", ())),
        superseded_by=table.get("superseded_by"),
        reviews=tuple(review_from(review) for review in table.get("reviews", ())),
        review_by=table.get("review_by"),
        prediction=table.get("prediction"),
        occurrences=table.get("occurrences", 1),
        again=tuple(occurrence_from(occurrence) for occurrence in table.get("again", ())),
        forced=bool(table.get("forced", False)),
        restored=bool(table.get("restored", False)),
        origin=table.get("origin"),
        version=table.get("version", 0),
    )


def _read(what: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except KeyError as error:
        raise ConfigError(f"{what}: the key {error} is missing") from error
    except (TypeError, ValueError, AttributeError, StopIteration) as error:
        raise ConfigError(f"{what}: {error}") from error
