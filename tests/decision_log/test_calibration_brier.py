"""The Brier score and its parts, against fractions computed by hand."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decision_log.calibration.scores import Forecast, brier_of
from ebbtide.errors import ConfigError

FORECASTS = st.lists(
    st.builds(
        Forecast,
        st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 0.7, 0.8, 0.9, 1.0])),
        st.sampled_from([0.0, 0.5, 1.0]),
    ),
    min_size=1,
    max_size=60,
)
# Five forecasts: said 0.6 (right, wrong), 0.8 (right, right), 0.9 (wrong).
FIVE = [Forecast(0.6, 1), Forecast(0.6, 0), Forecast(0.8, 1), Forecast(0.8, 1), Forecast(0.9, 0)]


@pytest.mark.clause("Q18")
def test_by_hand():
    """Every part of five forecasts, as the fraction that it is."""
    brier = brier_of(FIVE)
    tenths = [(6, 1), (6, 0), (8, 1), (8, 1), (9, 0)]
    score = sum((Fraction(tenth, 10) - right) ** 2 for tenth, right in tenths) / 5
    base = Fraction(3, 5)
    reliability = (2 * Fraction(1, 10) ** 2 + 2 * Fraction(2, 10) ** 2 + Fraction(9, 10) ** 2) / 5
    resolution = (2 * (Fraction(1, 2) - base) ** 2 + 2 * (1 - base) ** 2 + base**2) / 5
    assert score == reliability - resolution + base * (1 - base) == Fraction(141, 500)
    assert brier.n == 5
    for value, expected in (
        (brier.score, score),
        (brier.base_rate, base),
        (brier.uncertainty, base * (1 - base)),
        (brier.reliability, reliability),
        (brier.resolution, resolution),
        (brier.skill, 1 - score / (base * (1 - base))),
    ):
        assert value == pytest.approx(float(expected), abs=1e-15)
    losses = [0.6, 0.4, 0.8, 0.8, 0.1]
    assert brier.log_score == pytest.approx(-sum(map(math.log, losses)) / 5, abs=1e-15)


@pytest.mark.clause("Q18")
@given(FORECASTS)
def test_the_parts_make_up_the_score(forecasts):
    """Reliability - resolution + uncertainty is the score, partial outcomes too."""
    brier = brier_of(forecasts)
    total = brier.reliability - brier.resolution + brier.uncertainty
    assert total == pytest.approx(brier.score, abs=1e-12)


@given(FORECASTS)
def test_bounds(forecasts):
    """Every part is where it can be, and the base rate itself has no skill."""
    brier = brier_of(forecasts)
    assert 0 <= brier.score <= 1
    assert 0 <= brier.uncertainty <= 0.25 + 1e-12
    assert brier.reliability >= 0
    assert brier.resolution >= 0
    assert (brier.skill is None) is (brier.uncertainty == 0)
    assert brier.skill is None or brier.skill <= 1
    same = [Forecast(brier.base_rate, forecast.outcome) for forecast in forecasts]
    assert brier_of(same).score == pytest.approx(brier.uncertainty, abs=1e-12)


def test_everything_right():
    """Without a failure the reference is perfect, and there is no skill to speak of."""
    brier = brier_of([Forecast(0.75, 1)] * 3)
    assert (brier.score, brier.uncertainty, brier.skill) == (0.0625, 0, None)
    assert brier.to_dict()["skill"] is None


def test_certain_and_wrong():
    """A certain forecast that fails makes the log score infinite: it is not known, and counted."""
    brier = brier_of([Forecast(0, 1), Forecast(0.5, 1), Forecast(1, 0), Forecast(1, 1)])
    assert (brier.log_score, brier.certain_and_wrong) == (None, 2)
    right = brier_of([Forecast(0, 0), Forecast(1, 1)])
    assert (right.log_score, right.certain_and_wrong, right.skill) == (0, 0, 1)


def test_a_partial_outcome_is_between():
    """Half a success costs least where half was said."""
    assert brier_of([Forecast(0.5, 0.5)]).score == 0
    assert brier_of([Forecast(1, 0.5)]).score == brier_of([Forecast(0, 0.5)]).score == 0.25


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no forecasts"),
        ([Forecast(1.1, 1)], r"forecasts\[0\]"),
        ([Forecast(0.5, 1), Forecast(0.5, -1)], r"forecasts\[1\]"),
        ([Forecast(math.nan, 1)], r"nan"),
    ],
    ids=["none", "above", "below", "nan"],
)
def test_what_is_no_forecast_is_refused(rows, message):
    """The offending forecast is named."""
    with pytest.raises(ConfigError, match=message):
        brier_of(rows)


def test_wire_form():
    """The score is plain data."""
    wire = brier_of(FIVE).to_dict()
    assert json.loads(json.dumps(wire)) == wire
    assert wire == {
        "n": 5,
        "score": 0.282,
        "base_rate": 0.6,
        "uncertainty": 0.24,
        "reliability": 0.182,
        "resolution": 0.14,
        "skill": -0.175,
        "log_score": 0.835198,
        "certain_and_wrong": 0,
    }
