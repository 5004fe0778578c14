"""The product says of recorded runs what it said when the recordings were written.

A change that is meant to change verdicts or summaries writes them anew, with
`python -m benchmarks.quality.recording renew`. Of the repository's own runs
`python -m benchmarks.quality.recording compare tests/recording/own_runs.jsonl.gz --set scenarios`
lists what changes.
"""

import hashlib
import json
from itertools import groupby
from pathlib import Path

import pytest

from benchmarks.quality.recording import (
    DATA_DIGESTS,
    OWN_RUNS,
    OWN_SETS,
    Recording,
    data_runs,
    differences,
    digests_of,
    events_recording,
    file_recording,
    own_runs,
    read_recordings,
    record,
    without_texts,
    write_recordings,
)
from ebbtide import ToolCall

RENEW = "where this is meant: python -m benchmarks.quality.recording renew"
SAMPLE, SMALL = 48, 250  # runs of the data, and the most events of one


@pytest.fixture(scope="module", name="before")
def _before() -> dict[str, Recording]:
    return read_recordings(OWN_RUNS)


def look(number: int = 0) -> ToolCall:
    return ToolCall(name="ls", args={"path": "."}, result=f"{number}.txt")


def test_every_own_run_is_recorded(before: dict[str, Recording]) -> None:
    """The recording has the runs of the repository, each under a name of its own."""
    names = [run.id for run in own_runs()]
    assert names == list(before), RENEW
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", OWN_SETS)
def test_own_runs_come_to_what_was_recorded(before: dict[str, Recording], name: str) -> None:
    """Events, reports, verdicts, answers and summary are those of the recording, event by event."""
    changed = [
        "\n    ".join([f"{run.id}:", *lines[:12]])
        for run in OWN_SETS[name]()
        if run.id in before and (lines := differences(before[run.id], record(run)))
    ]
    assert not changed, "\n".join([f"{len(changed)} runs changed; {RENEW}", *changed[:8]])


def test_data_comes_to_what_was_recorded(data: Path) -> None:
    """A sample of the small runs of each set has the hash of the recording."""
    before = json.loads(DATA_DIGESTS.read_text(encoding="utf-8"))
    small = [name for name, (events, _) in before.items() if 0 < events <= SMALL]
    by_set = [list(names) for _, names in groupby(small, key=lambda name: name.split("/")[0])]
    chosen = {name for names in by_set for name in sorted(names, key=hashed)[: SAMPLE // len(by_set)]}
    runs = {run.id: run for run in data_runs(data) if run.id in chosen}
    if not runs:
        pytest.skip(f"none of the runs that were recorded is in {data}")
    changed = [name for name, run in runs.items() if digests_of(record(run)) != before[name]]
    assert not changed, f"{RENEW}; what changed: the command compare, with a recording by the code before"


def hashed(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def test_a_difference_names_its_event_and_its_place() -> None:
    """Who reads it learns which verdict is another, at which event, and what of the summary."""
    before = events_recording([look(), look(), look(), look()])
    now = events_recording([look(), look(), look(), look(1)])
    lines = differences(before, now)
    assert lines[:4] == ["events differ", "verdicts differ", "answers differ", "summary differ"]
    assert any(line.startswith("- event 4: record stop repeat ") for line in lines)
    assert any(line.startswith('summary.verdict.action: "stop", now "nudge"') for line in lines)
    assert differences(before, events_recording([look()] * 4)) == []


def test_a_recording_without_texts_says_where_it_differs() -> None:
    """It has neither reasons nor sentences, and still names event and part."""
    before = without_texts(events_recording([look()] * 4))
    assert "in a row" not in json.dumps(before)
    assert differences(before, events_recording([look()] * 4)) == []
    lines = differences(before, events_recording([look(), look(), look(), look(1)]))
    assert any(line.startswith("- event 4: record stop repeat ") for line in lines)
    assert any(line.startswith("summary.verdict: ") for line in lines)


def test_recordings_are_the_same_wherever_the_file_is(tmp_path: Path, project: Path) -> None:
    """Neither a path nor the time of day gets into them, of a readable file or another."""
    for name, text in {
        "run.jsonl": (project / "examples/runs/stuck.jsonl").read_text(encoding="utf-8") + "{cut",
        "none.txt": "nothing that is known",
    }.items():
        recordings = []
        for folder in ("a", "b"):
            path = tmp_path / folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            recordings.append(file_recording(path))
        assert recordings[0] == recordings[1]
        assert str(tmp_path) not in json.dumps(recordings[0])


def test_a_recording_that_is_read_back_is_the_same(tmp_path: Path) -> None:
    """Also with half a surrogate pair in it, as cut answers have."""
    recording = {"id": "a", **events_recording([ToolCall(name="ls", args={}, result="\ud83d")] * 4)}
    paths = [tmp_path / "one.gz", tmp_path / "two.gz"]
    for path in paths:
        write_recordings(path, [recording])
    assert read_recordings(paths[0]) == {"a": json.loads(json.dumps(recording))}
    assert paths[0].read_bytes() == paths[1].read_bytes()
