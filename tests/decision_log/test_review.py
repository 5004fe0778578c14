"""Reviews: what several of them come to, and which decisions wait for one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decision_log.record.record import Decision, DecisionOutcome, DecisionScope, Review, Status
from ebbtide.decision_log.record.review import Basis, Overdue, basis_of, overdue, resolve
from ebbtide.decisions.candidate import Candidate, Stakes

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


def decision(name="d1", *, stakes=None, review_by=100.0, status=Status.KEPT, reviews=()):
    return Decision(
        id=name,
        scope=DecisionScope(),
        candidate=Candidate(description="Use Redis for sessions", stakes=stakes),
        status=status,
        opened_at=0.0,
        reviews=tuple(reviews),
        review_by=review_by,
    )


def test_what_a_review_rests_on():
    """A name that is not a signal's is a person's."""
    bases = [basis_of(review) for review in (person(S, 1), measured(S, 1), concluded(S, 1))]
    assert bases == [Basis.ATTESTED, Basis.OBSERVED, Basis.INFERRED]


@pytest.mark.clause("Q17")
@pytest.mark.parametrize(
    ("reviews", "outcome", "basis", "against", "conflict"),
    [
        ([], None, None, 0, False),
        ([person(S, 1)], S, Basis.ATTESTED, 0, False),
        ([person(S, 1), person(F, 2)], F, Basis.ATTESTED, 0, False),
        ([person(S, 1), person(F, 2, "bob")], F, Basis.ATTESTED, 1, False),
        ([person(F, 2, "bob"), person(S, 1)], F, Basis.ATTESTED, 1, False),
        ([person(S, 1), measured(F, 2)], S, Basis.ATTESTED, 1, False),
        ([person(U, 1), measured(F, 2)], U, Basis.ATTESTED, 1, False),
        ([person(N, 1), measured(S, 2)], N, Basis.ATTESTED, 1, False),
        ([measured(S, 1), measured(F, 2)], F, Basis.OBSERVED, 0, False),
        ([measured(S, 1), measured(F, 2, "signal:other")], None, Basis.OBSERVED, 0, True),
        (
            [measured(S, 1), measured(F, 2, "signal:other"), concluded(P, 3)],
            None,
            Basis.OBSERVED,
            1,
            True,
        ),
        ([measured(S, 1), measured(F, 2, "signal:other"), person(P, 3)], P, Basis.ATTESTED, 2, False),
        ([measured(S, 1), concluded(P, 2)], S, Basis.OBSERVED, 1, False),
        ([measured(U, 1), concluded(P, 2)], P, Basis.INFERRED, 0, False),
        ([measured(U, 1)], U, Basis.OBSERVED, 0, False),
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
        "weaker signals stay visible",
        "person settles it",
        "observed over inferred",
        "unknown gives way",
        "unknown",
    ],
)
def test_what_reviews_come_to(reviews, outcome, basis, against, conflict):
    """A person stands over signals, the newest person over older ones, and a contradiction stays one."""
    resolution = resolve(reviews)
    assert (resolution.outcome, resolution.basis, len(resolution.against), resolution.conflict) == (
        outcome,
        basis,
        against,
        conflict,
    )
    assert resolution.agreed is (outcome is not None and not against)
    assert all(review.outcome is outcome for review in resolution.held_by) or conflict


REVIEWS = st.builds(
    Review,
    outcome=st.sampled_from(DecisionOutcome),
    by=st.sampled_from(["ann", "bob", "signal:a", "signal:b"]),
    ts=st.integers(0, 5).map(float),
    observed=st.booleans(),
)


@given(st.lists(REVIEWS, max_size=6))
def test_no_word_is_lost(reviews):
    """Whoever knows something, by their latest review, stands on one of the two sides."""
    resolution = resolve(reviews)
    by_time = sorted(reviews, key=lambda review: review.ts)
    latest = {review.by: review for review in by_time}.values()
    informed = [review for review in latest if review.outcome is not U]
    assert all(review in resolution.held_by + resolution.against for review in informed)
    assert (resolution.outcome is None) is (not reviews or resolution.conflict)


def test_wire_form():
    """What outweighed what is plain data."""
    wire = resolve([measured(F, 1), person(S, 2)]).to_dict()
    assert json.loads(json.dumps(wire)) == {
        "schema": 1,
        "outcome": "success",
        "basis": "attested",
        "conflict": False,
        "held_by": [{"outcome": "success", "by": "ann", "basis": "attested", "evidence": "", "ts": 2}],
        "against": [
            {
                "outcome": "failure",
                "by": "signal:changes",
                "basis": "observed",
                "evidence": "ci run 881",
                "ts": 1,
            }
        ],
    }


@pytest.mark.clause("Q17")
def test_the_queue_of_reviews():
    """The highest stakes first, then the longest wait; unknown stakes before low ones."""
    rows = [
        decision("low", stakes=Stakes.LOW, review_by=1.0),
        decision("unknown", review_by=2.0),
        decision("medium", stakes=Stakes.MEDIUM, review_by=99.0),
        decision("high", stakes=Stakes.HIGH, review_by=99.0),
        decision("critical late", stakes=Stakes.CRITICAL, review_by=50.0),
        decision("critical later", stakes=Stakes.CRITICAL, review_by=20.0),
        decision("today", stakes=Stakes.HIGH, review_by=100.0),
    ]
    queue = overdue(rows, now=100.0)
    assert [item.decision.id for item in queue] == [
        "critical later",
        "critical late",
        "high",
        "today",
        "medium",
        "unknown",
        "low",
    ]
    assert queue[0].to_dict() == {
        "schema": 1,
        "id": "critical later",
        "description": "Use Redis for sessions",
        "stakes": "critical",
        "review_by": 20.0,
        "late_s": 80.0,
        "why": "nobody looked",
    }


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (decision(), "nobody looked"),
        (decision(review_by=100.5), None),
        (decision(review_by=None), None),
        (decision(status=Status.SUPERSEDED), "nobody looked"),
        (decision(status=Status.OPENED), None),
        (decision(status=Status.ABANDONED), None),
        (decision(status=Status.QUARANTINED), None),
        (decision(status=Status.PURGED), None),
        (decision(reviews=[person(F, 5)]), None),
        (decision(reviews=[measured(S, 5)]), None),
        (decision(reviews=[measured(U, 5)]), "not known yet"),
        (decision(reviews=[person(U, 99)]), "not known yet"),
        (decision(reviews=[person(U, 100)]), None),
        (
            decision(reviews=[measured(S, 5), measured(F, 6, "signal:other")]),
            "the signals contradict each other",
        ),
    ],
    ids=[
        "nobody",
        "not yet",
        "no date",
        "superseded",
        "opened",
        "abandoned",
        "quarantined",
        "purged",
        "person",
        "signal",
        "signal cannot tell",
        "too early to tell",
        "looked and could not tell",
        "conflict",
    ],
)
def test_who_waits_for_a_review(row, why):
    """What is over its date and not known waits; what is refused, open or known does not."""
    queue = overdue([row], now=100.0)
    assert [item.why for item in queue] == ([] if why is None else [why])
    assert all(isinstance(item, Overdue) for item in queue)
