"""Checking files: the fold of events, many files at once, and input that is broken."""

import gzip
import json
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.checking import check, check_events, check_many
from ebbtide.errors import EbbtideError, TranscriptError
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.traces.formats import FORMATS
from ebbtide.traces.reading import open_trace


def wire(number: int, **fields: Any) -> dict[str, Any]:
    return {"kind": "tool", "name": "read", "args": {"n": number}, "result": f"r{number}", **fields}


def written(path: Path, events: list[Any]) -> Path:
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return path


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    return written(tmp_path / "stuck.jsonl", [wire(1, cost_usd=0.1, ts=float(at)) for at in range(9)])


def test_a_file_gives_what_its_events_give(stuck):
    """`check` is `check_events` over the reader."""
    summary = check(stuck)
    calls = [
        ToolCall(name="read", args={"n": 1}, result="r1", ts=float(at), usage=Usage(cost_usd=0.1))
        for at in range(9)
    ]
    assert summary == check_events(calls, source=str(stuck), form="ebbtide")
    assert summary.verdict.action is Action.STOP
    assert summary.saving is not None
    assert summary.saving.after.events == 5
    assert summary.timed


def test_broken_lines_are_faults_and_the_rest_is_read(tmp_path):
    """Each fault says its line."""
    path = tmp_path / "run.jsonl"
    lines = [json.dumps(wire(number)) for number in range(4)]
    path.write_text("\n".join([*lines[:2], "{broken", *lines[2:]]), encoding="utf-8")
    summary = check(path)
    assert (summary.spent.events, summary.degraded) == (4, 1)
    assert f"{path}:3" in summary.faults[0]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\x1f\x8b\x08broken", b"\x00\x01\x02"], ids=repr)
def test_what_cannot_be_read_at_all_is_refused_with_its_name(tmp_path, content):
    """Never a summary of nothing."""
    path = tmp_path / "odd"
    path.write_bytes(content)
    with pytest.raises(TranscriptError, match="odd"):
        check(path)


def test_a_missing_file_is_refused(tmp_path):
    """Its name is in the message."""
    with pytest.raises(EbbtideError, match="missing"):
        check(tmp_path / "missing.jsonl")


def test_progress_is_reported_every_thousand_and_at_the_end():
    """For a bar that moves."""
    numbers: list[int] = []
    check_events((ToolCall(name="x", result=str(n)) for n in range(2_500)), progress=numbers.append)
    assert numbers == [1_000, 2_000, 2_500]


def test_many_files_come_with_their_summaries_or_errors(tmp_path, stuck):
    """One broken file does not hide the others, in this process or in two."""
    fine = written(tmp_path / "fine.jsonl.gz", [])
    fine.write_bytes(gzip.compress("".join(json.dumps(wire(n)) + "\n" for n in range(3)).encode()))
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"")
    options = RunOptions(limits=Limits(steps=100))
    for jobs in (1, 2):
        summaries = dict(check_many([fine, stuck, broken], options, jobs=jobs))
        assert isinstance(summaries[broken], EbbtideError)
        assert isinstance(summaries[fine], RunSummary)
        assert summaries[stuck] == check(stuck, options)


def test_every_option_reaches_the_run(stuck):
    """Limits, shadow mode and the timeline, from one value."""
    summary = check(stuck, RunOptions(limits=Limits(steps=2), shadow=True, timeline=True))
    assert summary.verdict.shadow
    assert "limit" in {finding.kind for finding in summary.findings}
    assert len(summary.timeline) == 9
    assert not check(stuck).timeline


class BrokenTrace:
    """A format whose reader raises what nobody expected."""

    format = FORMATS[0]

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __iter__(self) -> Iterator[Event]:
        yield ToolCall(name="ls")
        raise self.error


@pytest.mark.parametrize(
    "error", [KeyError("id"), TypeError("odd"), RecursionError("deep"), OSError("gone")], ids=repr
)
def test_a_reader_that_breaks_does_not_end_a_folder(monkeypatch, tmp_path, stuck, error):
    """Its file is an error with its name and the reason; the other files are read."""
    odd = written(tmp_path / "odd.jsonl", [wire(1)])
    monkeypatch.setattr(
        "ebbtide.checking.open_trace",
        lambda path, **how: BrokenTrace(error) if path == odd else open_trace(path, **how),
    )
    summaries = dict(check_many([odd, stuck], jobs=1))
    assert isinstance(summaries[stuck], RunSummary)
    assert isinstance(summaries[odd], TranscriptError)
    assert f"cannot be read: {type(error).__name__}" in str(summaries[odd])
    assert "odd.jsonl" in str(summaries[odd])


def test_options_that_cannot_be_sent_are_worked_with_here(tmp_path, stuck):
    """A price table may hold a lock; two jobs give the same as one."""

    class Held(Prices):
        def __reduce__(self) -> str:
            raise TypeError("a lock")

    fine = written(
        tmp_path / "fine.jsonl", [wire(n, model="m", input_tokens=5, kind="llm") for n in range(3)]
    )
    options = RunOptions(prices=Held({"m": {"input": 1.0}}, public=False))
    summaries = dict(check_many([fine, stuck], options, jobs=2))
    assert summaries[fine].spent.cost_usd == pytest.approx(15e-6)


def test_no_files_are_no_work():
    """An empty folder."""
    assert list(check_many([])) == []


def test_memory_hardly_grows_with_the_run():
    """What verdicts depend on keeps its size; the table of what was spent takes forty bytes an event."""
    recorder = RunRecorder()
    sizes = []
    for number in range(9_000):
        pick = number if number % 3 else max(number - 6, 0)
        recorder.record(
            ToolCall(name="read", args={"n": pick}, result=f"r{pick}", usage=Usage(cost_usd=0.001))
        )
        if number in (4_500, 8_999):
            sizes.append(len(recorder.supervisor.to_bytes()))
    assert sizes[1] < sizes[0] * 1.2
    history = recorder._latest
    history.stretch(1, 1)  # notes what still waits
    columns = [value for name in history.__slots__ if isinstance(value := getattr(history, name), array)]
    assert sum(column.itemsize * len(column) for column in columns) == 9_000 * 40


def test_real_runs_of_people_and_agents_are_not_ended(data):
    """Twenty airline conversations: none of them hears anything."""
    from ebbtide.traces.reading import Trace

    path = data / "traces" / "openai_messages" / "tau_airline_20.json"
    for run in json.loads(path.read_text(encoding="utf-8")):
        trace = Trace.of(json.dumps(run["traj"]).encode(), source="run")
        summary = check_events(trace)
        assert summary.verdict.action is Action.ALLOW, summary.reason
