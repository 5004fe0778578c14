"""Outcomes of decisions by their reviews.

A person's word stands over a signal's, and the newest person's over an older one's. Nothing is overwritten.
Where signals contradict each other and no person has spoken, there is no outcome.

Source: decision quality gate, related 008.5 (clause Q17).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ebbtide.decision_log.record.record import Decision, DecisionOutcome, Review

#: What the name of a signal begins with, where a review says by whom it is. Anybody else is a person.
SIGNAL = "signal:"


class Basis(StrEnum):
    """The basis of an outcome, the firmest first."""

    ATTESTED = "attested"  #: a person says so
    OBSERVED = "observed"  #: a machine measured it
    INFERRED = "inferred"  #: it follows from something else, perhaps


def basis_of(review: Review) -> Basis:
    """Returns the basis of a review, by its author and by the measurement of a machine."""
    if not review.by.startswith(SIGNAL):
        return Basis.ATTESTED
    return Basis.OBSERVED if review.observed else Basis.INFERRED


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The result of all reviews of a decision.

    Args:
        outcome: How it turned out; None where nobody looked, or those who did contradict each other.
        basis: What that rests on; None where nobody looked.
        conflict: Whether reviews of one basis contradict each other, so that a person has to look.
    """

    outcome: DecisionOutcome | None = None
    basis: Basis | None = None
    conflict: bool = False


def resolve(reviews: Sequence[Review]) -> Resolution:
    """The result of all reviews of a decision.

    Of several reviews by one person or signal the newest counts. What does not know (`unknown`) gives way
    to what does; only where the newest person says so, it is not known.

    Args:
        reviews: In any order; of two of one time the later in the row is newer.

    >>> resolve([Review(outcome=DecisionOutcome.SUCCESS, by="signal:changes", ts=1.0, observed=True),
    ...          Review(outcome=DecisionOutcome.FAILURE, by="ann", ts=2.0)]).outcome.value
    'failure'
    """
    by_time = sorted(reviews, key=_age)  # stable
    latest = sorted({review.by: review for review in by_time}.values(), key=_age)
    persons = [review for review in latest if basis_of(review) is Basis.ATTESTED]
    if persons:
        return Resolution(outcome=persons[-1].outcome, basis=Basis.ATTESTED)
    for basis in Basis:
        outcomes = {review.outcome for review in latest if basis_of(review) is basis}
        outcomes.discard(DecisionOutcome.UNKNOWN)
        if len(outcomes) > 1:
            return Resolution(basis=basis, conflict=True)
        if outcomes:
            return Resolution(outcome=outcomes.pop(), basis=basis)
    if not latest:
        return Resolution()
    return Resolution(outcome=DecisionOutcome.UNKNOWN, basis=basis_of(latest[-1]))


def outcome_of(decision: Decision) -> DecisionOutcome | None:
    """Returns the outcome of a decision; None where nobody looked, or those who did contradict each other."""
    return resolve(decision.reviews).outcome if decision.reviews else None


def _age(review: Review) -> tuple[bool, float]:
    """Returns the sort key of a review, the oldest first; an undated one came with the decision."""
    return review.ts is not None, review.ts or 0.0
