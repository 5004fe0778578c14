"""Outcomes of decisions by their reviews, and the reviews that are overdue.

A person's word stands over a signal's, and the newest person's over an older one's. Nothing is overwritten:
what speaks against the outcome stays beside it. Where signals contradict each other and no person has
spoken, there is no outcome.

Source: decision quality gate, related 008.5 (clause Q17).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from ebbtide.codec import As, Record
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, Review, Status
from ebbtide.decisions.candidate import Stakes

#: What the name of a signal begins with, where a review says by whom it is. Anybody else is a person.
SIGNAL = "signal:"

_GRAVITY = (Stakes.CRITICAL, Stakes.HIGH, Stakes.MEDIUM, None, Stakes.LOW)  # unknown may be anything
_LIVING = frozenset({Status.KEPT, Status.SUPERSEDED})


class Basis(StrEnum):
    """The basis of an outcome, the firmest first."""

    ATTESTED = "attested"  #: a person says so
    OBSERVED = "observed"  #: a machine measured it
    INFERRED = "inferred"  #: it follows from something else, perhaps


_FIRMEST = tuple(Basis)


def basis_of(review: Review) -> Basis:
    """Returns the basis of a review, by its author and by the measurement of a machine."""
    if not review.by.startswith(SIGNAL):
        return Basis.ATTESTED
    return Basis.OBSERVED if review.observed else Basis.INFERRED


def _review_dict(review: Review) -> dict[str, Any]:
    return {
        "outcome": review.outcome.value,
        "by": review.by,
        "basis": basis_of(review).value,
        "evidence": review.evidence,
        "ts": review.ts,
    }


_Reviews = Annotated[tuple[Review, ...], As(lambda reviews: list(map(_review_dict, reviews)), tuple)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution(Record):
    """The result of all reviews of a decision.

    Args:
        outcome: How it turned out; None where nobody looked, or those who did contradict each other.
        basis: What that rests on; None where nobody looked.
        held_by: The reviews that say so, oldest first; in a conflict, all that take part in it.
        against: The reviews that say something else and were outweighed, oldest first.
        conflict: Whether reviews of one basis contradict each other, so that a person has to look.
    """

    _WIRE: ClassVar = "outcome basis conflict held_by against"
    _SCHEMA: ClassVar = 1

    outcome: DecisionOutcome | None = None
    basis: Basis | None = None
    held_by: _Reviews = ()
    against: _Reviews = ()
    conflict: bool = False

    @property
    def agreed(self) -> bool:
        """True where there is an outcome, and nobody's latest word is another one."""
        return self.outcome is not None and not self.against


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
    latest = list({review.by: review for review in by_time}.values())
    latest.sort(key=_age)
    persons = [review for review in latest if basis_of(review) is Basis.ATTESTED]
    if persons:
        outcome = persons[-1].outcome
        return _resolution(outcome, Basis.ATTESTED, latest)
    informed = [review for review in latest if review.outcome is not DecisionOutcome.UNKNOWN]
    for basis in _FIRMEST:
        holders = [review for review in informed if basis_of(review) is basis]
        outcomes = {review.outcome for review in holders}
        if len(outcomes) > 1:
            others = tuple(review for review in informed if review not in holders)
            return Resolution(basis=basis, held_by=tuple(holders), against=others, conflict=True)
        if holders:
            return _resolution(holders[0].outcome, basis, latest)
    return _resolution(DecisionOutcome.UNKNOWN, basis_of(latest[-1]), latest) if latest else Resolution()


def outcome_of(decision: Decision) -> DecisionOutcome | None:
    """Returns the outcome of a decision; None where nobody looked, or those who did contradict each other."""
    return resolve(decision.reviews).outcome if decision.reviews else None


def _resolution(outcome: DecisionOutcome, basis: Basis, latest: Sequence[Review]) -> Resolution:
    return Resolution(
        outcome=outcome,
        basis=basis,
        held_by=tuple(review for review in latest if review.outcome is outcome),
        against=tuple(
            review for review in latest if review.outcome not in (outcome, DecisionOutcome.UNKNOWN)
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue(Record):
    """A decision that should have been looked at by now.

    Args:
        late_s: Seconds since its review date.
        resolution: What is known so far.
    """

    _WIRE: ClassVar = """
        id=decision.id description=decision.candidate.description stakes=decision.candidate.stakes
        review_by=decision.review_by late_s why
    """
    _SCHEMA: ClassVar = 1

    decision: Decision
    late_s: float
    resolution: Resolution

    @property
    def why(self) -> str:
        """The reason why somebody has to look, in a few words."""
        if self.resolution.conflict:
            return "the signals contradict each other"
        return "nobody looked" if self.resolution.outcome is None else "not known yet"


def overdue(decisions: Iterable[Decision], now: float) -> tuple[Overdue, ...]:
    """The decisions whose review date is over and whose outcome is not known.

    Those with the highest stakes come first, then those that wait longest. Unknown stakes stand below
    medium and above low ones. What was quarantined, abandoned or purged needs no review, and what has no
    review date is never overdue. A person who looked after the date and could not tell has looked.

    Args:
        decisions: Any.
        now: Seconds since the epoch.
    """
    due = [
        Overdue(decision=decision, late_s=now - decision.review_by, resolution=resolve(decision.reviews))
        for decision in decisions
        if decision.review_by is not None and decision.review_by <= now and decision.status in _LIVING
    ]
    queue = [item for item in due if _waits(item)]
    queue.sort(
        key=lambda item: (_GRAVITY.index(item.decision.candidate.stakes), -item.late_s, item.decision.id)
    )
    return tuple(queue)


def _waits(item: Overdue) -> bool:
    if item.resolution.outcome not in (None, DecisionOutcome.UNKNOWN):
        return False
    due = item.decision.review_by or 0.0
    looked = any(
        basis_of(review) is Basis.ATTESTED and review.ts is not None and review.ts >= due
        for review in item.decision.reviews
    )
    return not looked


def _age(review: Review) -> tuple[bool, float]:
    """Returns the sort key of a review, the oldest first; an undated one came with the decision."""
    return review.ts is not None, review.ts or 0.0
