"""Reviews: what several of them come to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decision_log.record.record import DecisionOutcome, Review
from ebbtide.decision_log.record.review import Basis, basis_of, resolve

S, P, F, N, U = (
    DecisionOutcome.SUCCESS,
    DecisionOutcome.PARTIAL,
    DecisionOutcome.FAILURE,
    DecisionOutcome.NOT_A_DECISION,
    DecisionOutcome.UNKNOWN,
)


def person(outcome, ts, by="ann"):
    return Review(outcome=outcome, by=by, ts=ts)


def measured(outcome, ts, by="signal:changes"):
    return Review(outcome=outcome, by=by, ts=ts, evidence="ci run 881", observed=True)


def concluded(outcome, ts, by="signal:reversal"):
    return Review(outcome=outcome, by=by, ts=ts, evidence="superseded by d9")


def test_what_a_review_rests_on():
    """A name that is not a signal's is a person's."""
    bases = [basis_of(review) for review in (person(S, 1), measured(S, 1), concluded(S, 1))]
    assert bases == [Basis.ATTESTED, Basis.OBSERVED, Basis.INFERRED]


@pytest.mark.clause("Q17")
@pytest.mark.parametrize(
    ("reviews", "outcome", "basis", "conflict"),
    [
        ([], None, None, False),
        ([person(S, 1)], S, Basis.ATTESTED, False),
        ([person(S, 1), person(F, 2)], F, Basis.ATTESTED, False),
        ([person(S, 1), person(F, 2, "bob")], F, Basis.ATTESTED, False),
        ([person(F, 2, "bob"), person(S, 1)], F, Basis.ATTESTED, False),
        ([person(S, 1), measured(F, 2)], S, Basis.ATTESTED, False),
        ([person(U, 1), measured(F, 2)], U, Basis.ATTESTED, False),
        ([person(N, 1), measured(S, 2)], N, Basis.ATTESTED, False),
        ([measured(S, 1), measured(F, 2)], F, Basis.OBSERVED, False),
        ([measured(S, 1), measured(F, 2, "signal:other")], None, Basis.OBSERVED, True),
        (
            [measured(S, 1), measured(F, 2, "signal:other"), concluded(P, 3)],
            None,
            Basis.OBSERVED,
            True,
        ),
        ([measured(S, 1), measured(F, 2, "signal:other"), person(P, 3)], P, Basis.ATTESTED, False),
        ([measured(S, 1), concluded(P, 2)], S, Basis.OBSERVED, False),
        ([measured(U, 1), concluded(P, 2)], P, Basis.INFERRED, False),
        ([measured(U, 1)], U, Basis.OBSERVED, False),
    ],
    ids=[
        "nobody",
        "one",
        "changed mind",
        "newest person",
        "order of rows",
        "person over signal",
        "person cannot tell",
        "not a decision",
        "signal again",
        "signals differ",
        "weaker signals settle nothing",
        "person settles it",
        "observed over inferred",
        "unknown gives way",
        "unknown",
    ],
)
def test_what_reviews_come_to(reviews, outcome, basis, conflict):
    """A person stands over signals, the newest person over older ones, and a contradiction stays one."""
    resolution = resolve(reviews)
    assert (resolution.outcome, resolution.basis, resolution.conflict) == (outcome, basis, conflict)


REVIEWS = st.builds(
    Review,
    outcome=st.sampled_from(DecisionOutcome),
    by=st.sampled_from(["ann", "bob", "signal:a", "signal:b"]),
    ts=st.integers(0, 5).map(float),
    observed=st.booleans(),
)


@given(st.lists(REVIEWS, max_size=6))
def test_only_a_conflict_has_no_outcome(reviews):
    """Where somebody looked there is an outcome that somebody gave, or a conflict of signals."""
    resolution = resolve(reviews)
    assert (resolution.outcome is None) is (not reviews or resolution.conflict)
    assert resolution.outcome in {None, *(review.outcome for review in reviews)}
    assert not (resolution.conflict and any(review.by in {"ann", "bob"} for review in reviews))
