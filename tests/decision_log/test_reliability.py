"""Reliability bins, the calibration error, and what a perfect forecaster would show."""

import json
import math
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decision_log.calibration.scores import Forecast, calibration_error, in_bins, score_forecasts
from ebbtide.rate import Rate


def said(*confidences, outcome=1.0):
    return [Forecast(confidence, outcome) for confidence in confidences]


def confidences(rows):
    return [[forecast.confidence for forecast in row] for row in rows]


@pytest.mark.clause("Q18")
def test_bins_of_one_width():
    """A confidence on an edge belongs to the bin below, 0 and 1 to the first and the last."""
    forecasts = said(0.0, 0.1, 0.10001, 0.3, 0.6, 0.7, 1.0)
    assert confidences(in_bins(forecasts)) == [[0.0, 0.1], [0.10001], [0.3], [0.6], [0.7], [1.0]]
    bins = score_forecasts(forecasts).bins
    assert [(row.low, row.high, row.n) for row in bins] == [
        (0, 0.1, 2),
        (0.1, 0.2, 1),
        (0.2, 0.3, 1),
        (0.5, 0.6, 1),
        (0.6, 0.7, 1),
        (0.9, 1, 1),
    ]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=80))
def test_every_forecast_is_in_one_bin(values):
    """Bins hold everything once, in order, none is empty, and there are ten at most."""
    rows = in_bins(said(*values))
    assert [value for row in confidences(rows) for value in row] == sorted(values)
    assert all(rows)
    assert len(rows) <= 10
    for before, after in pairwise(rows):
        assert before[-1].confidence < after[0].confidence
    for row in score_forecasts(said(*values)).bins:
        assert row.low <= row.mean_confidence + 1e-12
        assert row.mean_confidence <= row.high + 1e-12


@pytest.mark.clause("Q18")
def test_each_bin_has_its_count_its_rate_and_an_interval():
    """Two of three right: the Wilson interval of 2 of 3, and how far that is from what was said."""
    (row,) = score_forecasts([Forecast(0.8, 1), Forecast(0.8, 0), Forecast(0.74, 1)]).bins
    assert (row.n, row.rate, row.interval) == (3, 2 / 3, Rate(hits=2, total=3).interval)
    assert row.mean_confidence == pytest.approx(0.78)


def test_a_partial_outcome_widens_the_interval():
    """Half a success may be none or one."""
    (row,) = score_forecasts([Forecast(0.8, 1), Forecast(0.8, 0.5), Forecast(0.8, 0)]).bins
    assert row.rate == 0.5
    assert row.interval == (Rate(hits=1, total=3).interval[0], Rate(hits=2, total=3).interval[1])


def by_hand(rows):
    """The expected error of a perfect forecaster, over every way in which it can turn out."""
    n = sum(map(len, rows))
    chances = [forecast.confidence for row in rows for forecast in row]
    total = 0.0
    for outcomes in product((0, 1), repeat=n):
        p = math.prod(
            chance if right else 1 - chance for chance, right in zip(chances, outcomes, strict=True)
        )
        rest = list(outcomes)
        total += p * sum(abs(sum(forecast.confidence - rest.pop(0) for forecast in row)) / n for row in rows)
    return total


@pytest.mark.clause("Q18")
@pytest.mark.parametrize(
    "values", [(0.5,), (0.8, 0.8, 0.8), (0.11, 0.12, 0.55, 0.9, 0.95, 1.0)], ids=["one", "three", "six"]
)
def test_what_a_perfect_forecaster_shows_is_counted_out(values):
    """The expectation is that over every possible outcome."""
    rows = in_bins(said(*values))
    assert calibration_error(rows).expected == pytest.approx(by_hand(rows), abs=1e-12)


def test_known_expectations():
    """The expectation falls with the root of the count: 0.10 at 100 forecasts, 0.03 at 1,000."""
    for n, expected in ((100, 0.10), (1_000, 0.032)):
        values = [(number + 0.5) / n for number in range(n)]
        assert calibration_error(in_bins(said(*values))).expected == pytest.approx(expected, rel=0.05)
    # Counted out and approximated, on both sides of the step from the one to the other.
    errors = [calibration_error([said(*[0.7] * n)]).expected * math.sqrt(n) for n in (400, 401)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-3)


def test_the_error_by_hand():
    """Said 0.6 and one of two right, said 0.9 and none right: 2/3 of 0.1 and 1/3 of 0.9."""
    error = calibration_error(in_bins([Forecast(0.6, 1), Forecast(0.6, 0), Forecast(0.9, 0)]))
    assert error.value == pytest.approx(2 / 3 * 0.1 + 1 / 3 * 0.9)
    assert error.largest == pytest.approx(0.9)
    # 0.576 for two of 0.6 and 0.18 for one of 0.9.
    assert error.expected == pytest.approx((0.576 + 0.18) / 3)
    assert error.value <= error.usual_below
    wrong = calibration_error([said(*[0.9] * 20, outcome=0.0)])
    assert wrong.value > wrong.usual_below
    wire = error.to_dict()
    assert json.loads(json.dumps(wire)) == wire
    assert list(wire.values())[:3] == [0.366667, 0.9, 0.252]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_bounds(values):
    """Errors and expectations lie in [0, 1]; who is certain and right has none, and expects none."""
    error = calibration_error(in_bins(said(*values)))
    assert 0 <= error.value <= error.largest + 1e-12 <= 1 + 1e-9
    assert 0 <= error.expected <= error.usual_below <= 1
    certain = calibration_error(in_bins(said(1.0, 1.0) + said(0.0, outcome=0.0)))
    assert (certain.value, certain.expected, certain.usual_below) == (0, 0, 0)


def test_wire_form():
    """A bin is plain data."""
    (row,) = score_forecasts(said(0.75)).bins
    assert json.loads(json.dumps(row.to_dict())) == {
        "low": 0.7,
        "high": 0.8,
        "n": 1,
        "mean_confidence": 0.75,
        "rate": 1.0,
        "interval_95": [0.2065, 1.0],
    }
