"""What the supervisor finds in the written scenarios; both files were read while the rules were made."""

from pathlib import Path

import pytest

from benchmarks.quality.alarms import RunAlarms, supervise
from benchmarks.quality.scenario_files import Scenario, read_scenarios

FILES = ("open", "more")
#: Kinds of stuck runs, and how many of how many are found at least.
FLOORS = {
    "plainly stuck": (("stuck-plain", "stuck-report"), 41, 48),
    "stuck under cover of variety": (("stuck-hidden",), 35, 62),
}
NUDGES, HEALTHY = 8, 162  # healthy runs that are nudged at most, of how many

Outcomes = list[tuple[Scenario, RunAlarms]]


@pytest.fixture(scope="module", name="outcomes")
def _outcomes(project: Path) -> Outcomes:
    return [
        (run, supervise(run.events))
        for name in FILES
        for run in read_scenarios(project / "tests/scenarios" / f"{name}.jsonl.gz")
    ]


def test_healthy_runs_are_left_alone(outcomes: Outcomes) -> None:
    """Few are nudged, and none is stopped or handed to a person."""
    healthy = [(run.id, alarms) for run, alarms in outcomes if not run.is_stuck]
    assert len(healthy) == HEALTHY
    names = [name for name, alarms in healthy if alarms.nudge is not None]
    assert len(names) <= NUDGES, names
    assert not [name for name, alarms in healthy if alarms.end is not None]


@pytest.mark.parametrize(("kinds", "floor", "size"), FLOORS.values(), ids=FLOORS)
def test_stuck_runs_are_found(outcomes: Outcomes, kinds: tuple[str, ...], floor: int, size: int) -> None:
    """So many are nudged at least."""
    runs = [(run.id, alarms) for run, alarms in outcomes if run.group in kinds]
    assert len(runs) == size
    missed = [name for name, alarms in runs if alarms.nudge is None]
    assert size - len(missed) >= floor, missed
