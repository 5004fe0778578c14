"""Drift: a change of the errors with time, and none where there is none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decision_log.calibration.brier import Forecast
from ebbtide.decision_log.calibration.calibrate import find_drift


def stream(*pieces):
    """Forecasts in time: of each piece every `every`-th fails."""
    rows = []
    for length, confidence, every in pieces:
        rows += [
            Forecast(confidence, float(number % every != 0), float(len(rows) + number))
            for number in range(length)
        ]
    return rows


@pytest.mark.clause("Q18")
def test_a_change_is_found_where_it_is():
    """One in ten fails, then every second one: the errors grew, from there on."""
    drift = find_drift(stream((100, 0.9, 10), (100, 0.9, 2)))
    assert drift is not None
    assert drift.changed
    assert drift.worse
    assert abs(drift.place - 100) <= 5
    assert drift.ts == float(drift.place)
    assert drift.before == pytest.approx(0.09, abs=0.02)
    assert drift.after == pytest.approx(0.41, abs=0.02)
    better = find_drift(stream((100, 0.9, 2), (100, 0.9, 10)))
    assert better is not None
    assert (better.changed, better.worse) == (True, False)


def test_the_same_throughout_is_no_change():
    """One in ten fails, all the time."""
    drift = find_drift(stream((200, 0.9, 10)))
    assert drift is not None
    assert (drift.changed, drift.worse) == (False, False)
    assert drift.p_value > 0.9


def test_too_few_or_all_equal_say_nothing():
    """Under 30 forecasts, and without any spread, there is no test."""
    assert find_drift(stream((29, 0.9, 2))) is None
    assert find_drift(stream((30, 0.9, 2))) is not None
    assert find_drift([Forecast(0.8, 1.0, float(number)) for number in range(50)]) is None


def test_the_threshold_is_the_caller_s():
    """The same errors are a change for one who asks for less."""
    rows = stream((40, 0.9, 10), (40, 0.9, 4))
    strict, loose = find_drift(rows, below=0.001), find_drift(rows, below=0.9)
    assert strict is not None
    assert loose is not None
    assert strict.p_value == loose.p_value
    assert (strict.changed, loose.changed) == (False, True)


def test_the_p_value_is_that_of_the_brownian_bridge():
    """The largest sum of the errors' distances from their mean, in deviations, has Kolmogorov's law."""
    # 50 errors of 0, then 50 of 1: the sums reach 25, the deviation is 1/2, so that the height is 5.
    high = find_drift([Forecast(1.0, float(number < 50), float(number)) for number in range(100)])
    assert high is not None
    assert high.p_value == pytest.approx(2 * 1.9287498e-22, rel=1e-6)
    # 0 and 1 by turns: the sums reach 1/2, the height is 0.1.
    low = find_drift([Forecast(1.0, float(number % 2), float(number)) for number in range(100)])
    assert low is not None
    assert low.p_value == 1.0


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=30, max_size=80), st.randoms(use_true_random=False))
def test_time_orders_the_forecasts(outcomes, random):
    """The order of the rows does not matter, and turning time round only exchanges before and after."""
    rows = [Forecast(0.7, outcome, float(at)) for at, outcome in enumerate(outcomes)]
    drift = find_drift(rows)
    assert find_drift(random.sample(rows, len(rows))) == drift
    back = find_drift([row._replace(ts=-row.ts) for row in rows])
    assert (back is None) is (drift is None)
    if drift is not None and back is not None:
        assert back.p_value == pytest.approx(drift.p_value, abs=1e-9)
        assert 0 <= drift.p_value <= 1
        assert 1 <= drift.place < len(rows)


def test_wire_form():
    """A change is plain data."""
    drift = find_drift(stream((40, 0.9, 10), (40, 0.9, 2)))
    assert drift is not None
    wire = drift.to_dict()
    assert json.loads(json.dumps(wire)) == wire
    assert (wire["n"], wire["changed"], wire["threshold"]) == (80, drift.changed, 0.01)
