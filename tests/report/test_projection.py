"""When a budget ends."""

import dataclasses

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.report.projection import projections
from ebbtide.supervision.summary.run_summary import Cell


def cell(number: int, cost: float | None, tokens: int | None = None, ts: float | None = None) -> Cell:
    return Cell(
        number=number,
        kind="tool",
        name="a",
        identity=0,
        error=False,
        chain_id="",
        cost_usd=cost,
        tokens=tokens,
        ts=ts,
        excerpt="",
    )


def test_the_end_at_the_latest_pace() -> None:
    """The rate is that of the last fifth: a run that gets dearer ends sooner than its mean says."""
    slow = [cell(n, 0.01 * n, ts=2.0 * n) for n in range(1, 81)]
    fast = [cell(n, 0.8 + 0.1 * (n - 80), ts=2.0 * n) for n in range(81, 101)]
    (projection,) = projections([*slow, *fast], Limits(cost_usd=5.0))
    assert projection.spent == pytest.approx(2.8)
    assert projection.ends_at == 100 + 22
    assert projection.ends_in_s == pytest.approx(44.0)
    assert projection.passed_at is None


def test_a_limit_that_was_passed_has_its_event() -> None:
    """The first event that reaches the limit is named, and no end is projected."""
    cells = [cell(n, 1.0 * n, tokens=10 * n) for n in range(1, 31)]
    cost, tokens = projections(cells, Limits(cost_usd=12.0, tokens=1_000))
    assert (cost.passed_at, cost.ends_at) == (12, None)
    assert (tokens.passed_at, tokens.ends_at) == (None, 100)


def test_what_is_not_known_is_not_projected() -> None:
    """No limit, or nothing known of what it limits, gives nothing; without times there are no seconds."""
    unknown = [cell(n, None, tokens=n) for n in range(1, 31)]
    assert projections(unknown, Limits(cost_usd=1.0)) == ()
    assert projections(unknown, Limits()) == ()
    assert projections((), Limits(cost_usd=1.0)) == ()
    (tokens,) = projections(unknown, Limits(tokens=60))
    assert (tokens.ends_at, tokens.ends_in_s) == (60, None)


def test_a_run_that_spends_nothing_more_has_no_end() -> None:
    """One event, or a flat end, leaves the end of the budget open."""
    assert projections([cell(1, 0.5)], Limits(cost_usd=1.0))[0].ends_at is None
    level = [cell(n, 0.5) for n in range(1, 31)]
    assert projections(level, Limits(cost_usd=1.0))[0].ends_at is None


def test_times_that_stand_still_give_no_seconds() -> None:
    """Equal times say nothing about a pace."""
    cells = [dataclasses.replace(cell(n, 0.1 * n), ts=5.0) for n in range(1, 31)]
    assert projections(cells, Limits(cost_usd=10.0))[0].ends_in_s is None
