"""Which decisions say something of an agent's confidence, and why the others do not.

Source: decision quality gate (clause Q18). A confidence that nobody stated, and an outcome that nobody saw,
would measure our own defaults.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from ebbtide.decision_log.calibration.brier import Forecast
from ebbtide.decision_log.outcomes.review import Basis, resolve
from ebbtide.decision_log.record import Decision, DecisionOutcome, Status
from ebbtide.decisions.candidate import Candidate, ConfidenceSource


class PartialPolicy(StrEnum):
    """What a partial outcome counts as."""

    HALF = "half"  #: half a success
    EXCLUDE = "exclude"  #: nothing: the strict score knows right and wrong only


class Exclusion(StrEnum):
    """Why a decision does not count; the first that holds, in this order."""

    OPENED = "opened"  #: still being thought about
    ABANDONED = "abandoned"  #: never taken; that is a status, not an outcome
    QUARANTINED = "quarantined"  #: refused
    PURGED = "purged"
    NO_CONFIDENCE = "no_confidence"
    DEFAULT_CONFIDENCE = "default_confidence"  #: nobody thought about it
    DERIVED_CONFIDENCE = "derived_confidence"  #: computed from something else
    NO_OUTCOME = "no_outcome"  #: nobody looked
    CONFLICT = "conflict"  #: signals contradict each other, and no person has looked
    INFERRED = "inferred"  #: nobody saw it, a signal only concluded it
    UNKNOWN = "unknown"  #: somebody looked and could not tell
    NOT_A_DECISION = "not_a_decision"
    PARTIAL = "partial"  #: left out by the policy


_BY_STATUS = {
    Status.OPENED: Exclusion.OPENED,
    Status.ABANDONED: Exclusion.ABANDONED,
    Status.QUARANTINED: Exclusion.QUARANTINED,
    Status.PURGED: Exclusion.PURGED,
}
_BY_OUTCOME = {
    DecisionOutcome.UNKNOWN: Exclusion.UNKNOWN,
    DecisionOutcome.NOT_A_DECISION: Exclusion.NOT_A_DECISION,
}
_WORTH = {DecisionOutcome.SUCCESS: 1.0, DecisionOutcome.PARTIAL: 0.5, DecisionOutcome.FAILURE: 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """What counts.

    Args:
        partial: What a partial outcome counts as.
        sources: Where a confidence may come from; by default it has to be stated.
        bases: What an outcome may rest on; by default it has to be attested or observed.
    """

    partial: PartialPolicy = PartialPolicy.HALF
    sources: Collection[ConfidenceSource] = (ConfidenceSource.STATED,)
    bases: Collection[Basis] = (Basis.ATTESTED, Basis.OBSERVED)


def confidence_source(candidate: Candidate) -> ConfidenceSource | None:
    """Where the confidence came from; where nobody said, exactly 0.5 is the default and the rest stated."""
    if candidate.confidence is None:
        return None
    if candidate.confidence_source is not None:
        return candidate.confidence_source
    return ConfidenceSource.DEFAULT if candidate.confidence == 0.5 else ConfidenceSource.STATED


def forecast_of(decision: Decision, eligibility: Eligibility) -> Forecast | Exclusion:
    """What a decision says of confidence, or why it says nothing.

    Args:
        decision: With its reviews.
        eligibility: What counts.
    """
    candidate = decision.candidate
    exclusion = _BY_STATUS.get(decision.status) or _confidence(candidate, eligibility)
    if exclusion is not None or candidate.confidence is None:
        return exclusion or Exclusion.NO_CONFIDENCE
    resolution = resolve(decision.reviews)
    if resolution.outcome is None or resolution.basis is None:
        return Exclusion.CONFLICT if resolution.conflict else Exclusion.NO_OUTCOME
    if resolution.basis not in eligibility.bases:
        return Exclusion.INFERRED
    if resolution.outcome in _BY_OUTCOME:
        return _BY_OUTCOME[resolution.outcome]
    if resolution.outcome is DecisionOutcome.PARTIAL and eligibility.partial is PartialPolicy.EXCLUDE:
        return Exclusion.PARTIAL
    ts = decision.opened_at if decision.settled_at is None else decision.settled_at
    return Forecast(float(candidate.confidence), _WORTH[resolution.outcome], ts)


def _confidence(candidate: Candidate, eligibility: Eligibility) -> Exclusion | None:
    source = confidence_source(candidate)
    if source is None:
        return Exclusion.NO_CONFIDENCE
    if source in eligibility.sources:
        return None
    derived = source is ConfidenceSource.DERIVED
    return Exclusion.DERIVED_CONFIDENCE if derived else Exclusion.DEFAULT_CONFIDENCE
