"""Calibration of decisions: which count, why the others do not, and what is said of too few."""

import json

import pytest

from ebbtide.decision_log.calibration.calibrate import Exclusion, calibrate_decisions, forecast_of
from ebbtide.decision_log.calibration.scores import Forecast, score_forecasts
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, DecisionScope, Review, Status
from ebbtide.decisions.candidate import Candidate, ConfidenceSource

S, P, F, N, U = (
    DecisionOutcome.SUCCESS,
    DecisionOutcome.PARTIAL,
    DecisionOutcome.FAILURE,
    DecisionOutcome.NOT_A_DECISION,
    DecisionOutcome.UNKNOWN,
)


def decision(
    confidence=0.8,
    outcome=S,
    *,
    source=None,
    status=Status.KEPT,
    category=None,
    agent="agent",
    by="ann",
    observed=False,
    at=0.0,
):
    review = () if outcome is None else (Review(outcome=outcome, by=by, ts=at + 9, observed=observed),)
    return Decision(
        id=f"d{at:g}",
        scope=DecisionScope(agent=agent),
        candidate=Candidate(
            description="Use Redis for sessions",
            confidence=confidence,
            confidence_source=source,
            category=category,
        ),
        status=status,
        opened_at=at,
        settled_at=at + 1,
        reviews=review,
    )


CONFLICT = Decision(
    id="conflict",
    scope=DecisionScope(),
    candidate=Candidate(description="Use Redis for sessions", confidence=0.8),
    status=Status.KEPT,
    opened_at=0.0,
    reviews=(
        Review(outcome=S, by="signal:a", ts=1.0, observed=True),
        Review(outcome=F, by="signal:b", ts=2.0, observed=True),
    ),
)


@pytest.mark.clause("Q18")
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (decision(), Forecast(0.8, 1.0)),
        (decision(outcome=F), Forecast(0.8, 0.0)),
        (decision(outcome=P), Forecast(0.8, 0.5)),
        (decision(0.5, source=ConfidenceSource.STATED), Forecast(0.5, 1.0)),
        (decision(0.0, F), Forecast(0.0, 0.0)),
        (decision(status=Status.SUPERSEDED), Forecast(0.8, 1.0)),
        (decision(by="signal:changes", observed=True), Forecast(0.8, 1.0)),
        (decision(by="signal:reversal", outcome=P), Exclusion.INFERRED),
        (decision(0.5), Exclusion.DEFAULT_CONFIDENCE),
        (decision(0.50001), Forecast(0.50001, 1.0)),
        (decision(0.8, source=ConfidenceSource.DEFAULT), Exclusion.DEFAULT_CONFIDENCE),
        (decision(0.3, source=ConfidenceSource.DERIVED), Exclusion.DERIVED_CONFIDENCE),
        (decision(None), Exclusion.NO_CONFIDENCE),
        (decision(outcome=None), Exclusion.NO_OUTCOME),
        (decision(outcome=U), Exclusion.UNKNOWN),
        (decision(outcome=N), Exclusion.NOT_A_DECISION),
        (CONFLICT, Exclusion.CONFLICT),
        (decision(status=Status.OPENED), Exclusion.OPENED),
        (decision(None, None, status=Status.ABANDONED), Exclusion.ABANDONED),
        (decision(status=Status.QUARANTINED), Exclusion.QUARANTINED),
        (decision(status=Status.PURGED), Exclusion.PURGED),
    ],
    ids=lambda value: value.value if isinstance(value, Exclusion) else None,
)
def test_what_counts_and_why_the_rest_does_not(row, expected):
    """Only a confidence that somebody stated and an outcome that somebody saw; every other has its reason."""
    assert forecast_of(row) == expected


@pytest.mark.clause("Q18")
def test_the_excluded_are_counted_by_reason():
    """Nothing disappears: what counts and what does not add up to all."""
    rows = [decision(), decision(0.9, F), decision(0.5), decision(0.5), decision(None), CONFLICT]
    result = calibrate_decisions(rows)
    assert (result.decisions, result.n) == (6, 2)
    assert dict(result.excluded) == {
        Exclusion.NO_CONFIDENCE: 1,
        Exclusion.DEFAULT_CONFIDENCE: 2,
        Exclusion.CONFLICT: 1,
    }
    assert [reason for reason, _ in result.excluded] == [
        reason for reason in Exclusion if reason in dict(result.excluded)
    ]
    assert result.scores is not None
    assert result.scores.brier.score == pytest.approx((0.2**2 + 0.9**2) / 2)


@pytest.mark.clause("Q18")
def test_groups_speak_from_thirty_on():
    """A category of 29 has a count and no scores, one of 30 has both; the largest comes first."""
    rows = [decision(category="tooling", agent="ann") for _ in range(30)]
    rows += [decision(category="process", agent="bob", outcome=F) for _ in range(29)]
    rows += [decision(agent="ann")]
    result = calibrate_decisions(rows)
    assert [(group.name, group.n, group.scores is None) for group in result.by_category] == [
        ("tooling", 30, False),
        ("process", 29, True),
        (None, 1, True),
    ]
    assert [(group.name, group.n, group.scores is None) for group in result.by_agent] == [
        ("ann", 31, False),
        ("bob", 29, True),
    ]
    scores = result.by_category[0].scores
    assert scores is not None
    assert scores.brier.score == pytest.approx(0.04)


def test_nothing_to_say():
    """Without a forecast there are no scores and no groups, but the reasons."""
    result = calibrate_decisions([decision(None)])
    assert (result.n, result.scores, result.by_agent) == (0, None, ())
    assert calibrate_decisions([]).to_dict()["decisions"] == 0


def test_forecasts_of_any_kind_can_be_scored():
    """The parts over distinct confidences, the error over ten bins."""
    forecasts = [Forecast(0.71, 1), Forecast(0.79, 0), Forecast(0.2, 0)]
    scores = score_forecasts(forecasts)
    assert scores.brier.resolution == pytest.approx(scores.brier.uncertainty)
    assert [row.n for row in scores.bins] == [1, 2]
    assert scores.error.value == pytest.approx((0.2 + 2 * 0.25) / 3)


def test_wire_form():
    """A calibration is plain data."""
    rows = [decision(0.9, S if at % 3 else F, at=float(at), category="tooling") for at in range(60)]
    wire = calibrate_decisions([*rows, decision(None)]).to_dict()
    assert json.loads(json.dumps(wire)) == wire
    assert wire["schema"] == 1
    assert wire["excluded"] == {"no_confidence": 1}
    assert (wire["n"], wire["decisions"], wire["least"]) == (60, 61, 30)
    assert wire["scores"]["bins"][0]["n"] == 60
    assert wire["by_category"][0]["name"] == "tooling"
