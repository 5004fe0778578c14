"""What `benchmarks.quality.forecast` takes for a moment, a fact and a gain, on a few made runs."""

import math

import pytest

from benchmarks.quality.forecast_runs import Course, facts_at, points_of, turn_ends
from ebbtide.events.event import Event, ModelCall, ToolCall
from ebbtide.events.transcript import Round

np = pytest.importorskip("numpy")
forecast = pytest.importorskip("benchmarks.quality.forecast")
scores = pytest.importorskip("benchmarks.quality.forecast_scores")


def calls(count: int, *, fresh: bool = True, failed: int = 0) -> list[Event]:
    return [
        ToolCall(
            name="look",
            args={"n": n if fresh else 0},
            result=f"text {n}" if fresh else "nothing",
            error=n >= count - failed,
        )
        for n in range(count)
    ]


def course(events: list[Event], name: str = "t", **values: object) -> Course:
    base = {"collection": "made", "agent": "made", "task": name, "events": events, "solved": True}
    return Course(**base | values)  # type: ignore[arg-type]


def test_a_turn_is_a_call_of_a_tool_or_words_where_there_are_none() -> None:
    """Words beside calls end no turn."""
    assert turn_ends([ModelCall(text="so"), *calls(2)]) == [2, 3]
    assert turn_ends([ModelCall(text="so"), Round.from_text("well", number=1)]) == [1, 2]


def test_each_moment_is_of_what_was_open_then() -> None:
    """Half of the own turns, and half of the limit; a run that was over or solved by then has none."""
    long, short = course(calls(8), limit=4), course(calls(3), limit=4)
    early = course(calls(8), solved_at=1, limit=4)
    points = points_of([long, short, early])
    assert [(point.moment, round(math.expm1(point.facts["turns"]))) for point in points] == [
        ("half", 4),
        ("budget", 2),
    ]


def test_facts_are_those_of_the_record_so_far() -> None:
    """What comes later changes none, and what is not known is no number."""
    events = calls(8, failed=2)
    facts = facts_at(events, {"half": 6, "end": 8})
    assert repr(facts["half"]) == repr(facts_at(events[:6], {"half": 6})["half"])  # NaN equals nothing
    assert (facts["half"]["failed"], facts["end"]["failed lately"]) == (0.0, 0.5)
    assert facts["end"]["last call failed"] == 1.0
    assert facts["half"]["new answers"] == 1.0
    assert math.isnan(facts["half"]["dollars"])
    assert facts_at(calls(8, fresh=False), {"half": 6})["half"]["new calls lately"] == 0.0


def test_scores_of_chances() -> None:
    """Ties are half, a bin holds what was said and what came, and an interval covers the value."""
    outcomes = np.array([0.0, 0.0, 1.0, 1.0])
    assert scores.auc(np.array([0.1, 0.2, 0.8, 0.9]), outcomes) == 1.0
    assert scores.auc(np.full(4, 0.5), outcomes) == 0.5
    assert math.isnan(scores.auc(np.full(2, 0.5), np.ones(2)))
    assert scores.brier(np.full(4, 0.5), outcomes) == 0.25
    assert scores.reliability(np.array([0.1, 0.1, 0.9, 1.0]), outcomes) == [
        {"from": 0.0, "n": 2, "said": 0.1, "came": 0.0},
        {"from": 0.8, "n": 2, "said": 0.95, "came": 1.0},
    ]
    low, high = scores.interval(range(200), lambda rows: float(np.mean(rows % 2)))
    assert low < 0.5 < high


def test_the_regression_finds_a_sign_and_bears_what_is_missing() -> None:
    """A known chance is recovered; a missing value is the mean one."""
    dice = np.random.default_rng(1)
    rows = np.column_stack([dice.random(4_000) < 0.5, dice.random(4_000)]).astype(float)
    outcomes = (dice.random(4_000) < np.where(rows[:, 0] > 0, 0.8, 0.3)).astype(float)
    rows[:10, 1] = math.nan
    fitted = scores.Forecaster(rows, outcomes)
    one, zero, unknown = fitted.chances(np.array([[1.0, 0.5], [0.0, 0.5], [math.nan, math.nan]]))
    assert one == pytest.approx(0.8, abs=0.04)
    assert zero == pytest.approx(0.3, abs=0.04)
    assert zero < unknown < one


def test_no_set_is_asked_by_what_was_fitted_on_it() -> None:
    """Made runs where failing late foretells the end: the facts beat the turns, by agent and by task."""
    courses = [
        course(
            calls(8, failed=6 if number % 2 else 0),
            name=f"{agent} {number}",
            agent=agent,
            collection=agent,
            solved=number % 2 == 0,
        )
        for agent in ("a", "b")
        for number in range(24)
    ]
    points = points_of(courses)
    for by in ("agent", "collection", "task"):
        row = forecast.measured([point for point in points if point.moment == "half"], "a", by)
        assert (row["n"], row["solved"], row["tasks"]) == (24, 12, 24)
        assert row["forecasts"]["facts"]["auc"] == 1.0
        assert row["gains"]["turns"]["brier"] > 0
    results = forecast.measure(points)
    assert [result["counts"]["sets"] for result in results] == [2] * 6
