"""Whatever reads a run comes to one verdict: `check`, `loops`, `watch`, and a supervisor fed by hand."""

import dataclasses
import io
import json
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from ebbtide.checking import check
from ebbtide.cli.result import Exit
from ebbtide.cli.runs.loops import loops
from ebbtide.cli.runs.watch import LiveRun
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.traces.reading import open_trace

PROJECT = Path(__file__).parents[2]
TRACES = sorted(
    path
    for folder in ("examples/runs", "examples/conversations", "examples/decisions", "tests/traces/samples")
    for path in (PROJECT / folder).iterdir()
    if path.is_file() and path.suffix != ".csv" and path.name != "old-log.jsonl"
)
EVERY_TRACE = pytest.mark.parametrize("path", TRACES, ids=[path.name for path in TRACES])
_PIECE = 700  # bytes: lines are cut anywhere


@EVERY_TRACE
def test_watching_comes_to_what_checking_came_to(path: Path) -> None:
    """A run that grew by small pieces has the summary of the file, but for its place among others."""
    summary = _alone(check(path))
    live = LiveRun(str(path), RunOptions())
    data = path.read_bytes()
    for start in range(0, len(data), _PIECE):
        list(live.feed(data[start : start + _PIECE]))
    list(live.finish())
    watched = live.summary()
    assert dataclasses.replace(watched, faults=(), timed=summary.timed) == dataclasses.replace(
        summary, faults=(), timed=summary.timed
    )


def _alone(summary: RunSummary) -> RunSummary:
    bill = dataclasses.replace(summary.bill, tree=None)
    return dataclasses.replace(summary, id=None, parent=None, role="session", name="", bill=bill)


@EVERY_TRACE
def test_loops_are_the_findings_of_check(path: Path) -> None:
    """`ebbtide loops` lists those that are about loops or spending, and no other."""
    findings = json.loads(json.dumps(check(path).to_dict()))["findings"]
    printed, has_loop = io.StringIO(), False
    with redirect_stdout(printed):
        try:
            loops.main([str(path), "--json"], standalone_mode=False)
        except SystemExit as end:
            has_loop = end.code == Exit.LOOP
    listed = json.loads(printed.getvalue())["loops"]
    assert listed == [item for item in findings if item["cause"] in ("divergence", "spending")]
    assert has_loop == bool(listed)


@EVERY_TRACE
def test_a_supervisor_fed_by_hand_agrees(path: Path) -> None:
    """What holds after the last event is what the summary says of the end."""
    supervisor = Supervisor()
    for event in open_trace(path):
        supervisor.record(event)
    supervisor.settle()
    latest = check(path).latest
    assert (supervisor.verdict().action, supervisor.verdict().facts) == (latest.action, latest.facts)
