"""What `benchmarks.reading` counts: functions, files, crossings, and the names of one text."""

import sys

import ebbtide
from benchmarks.reading.__main__ import record_apart
from benchmarks.reading.recorder import Recorder, Recording
from benchmarks.reading.walks import WALKS


def test_the_same_way_is_counted_alike() -> None:
    """A call in a warm supervisor enters as much each time, in more than one file."""
    first, second = record_apart("tool_call"), record_apart("tool_call")
    assert first == second
    assert first["functions"] > first["files"] > 1
    assert first["crossings"] >= first["files"] - 1
    assert sum(first["files_by_room"].values()) == first["files"]


def test_what_counts() -> None:
    """Functions inside of a recording count, those before and after it do not."""
    before = sys.getprofile()
    recorder = Recorder()
    try:
        with recorder.recording() as nothing:
            pass
        ebbtide.Supervisor().snapshot()
        with recorder.recording() as recording:
            run = ebbtide.Supervisor()
        run.snapshot()
    finally:
        recorder.stop()
        sys.setprofile(before)
    assert nothing == Recording()
    entered = {name.partition(":")[2] for name in recording.functions}
    assert "Supervisor.__init__" in entered
    assert "Supervisor.snapshot" not in entered


def test_names_hold_the_text() -> None:
    """Names of the text and of records with it count, however it is written; others and `self` do not."""
    recording = Recording("Use SQLite.")
    event = ebbtide.ToolCall(name="note", args={"words": "use sqlite, then"}, result="done")
    recording.look({"event": event, "self": event, "other": 1, "row": (1, "USE SQLITE"), "answer": "Redis"})
    assert recording.names == {"event", "args", "words", "row"}


def test_a_decision_has_names_on_its_way() -> None:
    """The names under which a decision comes to its row are found, where the log is given only its text."""
    names = record_apart("decision")["which_names"]
    assert "description" in names
    assert "self" not in names


def test_each_walk_is_explained() -> None:
    """Each row of the table says what comes."""
    assert len({words for words, _ in WALKS.values()}) == len(WALKS)
