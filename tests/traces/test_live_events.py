"""A run that is still being recorded."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.budget.tally import is_model_call
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.usage import COUNTS
from ebbtide.traces.live import RoundStream, TraceStream
from ebbtide.traces.reading import load
from ebbtide.traces.records.readers import TraceItem
from ebbtide.traces.transcripts.turns import RoundUnit

EVENT = {"kind": "tool", "name": "ls", "args": {}, "ts": 1.0}
LOG = {"level": "info", "text": "booting"}


def encoded(*values: object) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def test_an_event_comes_with_the_end_of_its_line() -> None:
    """Half a line waits; counts and times are those of the events so far."""
    stream = TraceStream(source="log")
    data = encoded(EVENT)
    assert stream.feed(data[:-1]) == ()
    assert (stream.format, stream.events) == (None, 0)
    assert [event.name for event in stream.feed(b"\n" + encoded(EVENT | {"ts": 0.5}))] == ["ls", "ls"]
    assert (stream.events, stream.timed, stream.late, stream.duplicates) == (2, True, 1, 0)
    assert stream.format is not None
    assert stream.finish() == ()


def test_a_broken_line_is_a_fault() -> None:
    """It is told with its number, and the stream goes on."""
    stream = TraceStream(source="log")
    found = stream.feed(b"\n" + encoded(EVENT) + b"{\n" + encoded(EVENT))
    assert len(found) == 2
    assert [str(fault)[:17] for fault in stream.faults] == ["log:3: not JSON: "]


def test_lines_before_the_first_that_is_known_are_kept() -> None:
    """Ten lines of no known format are told once; what comes after them is read, with the right numbers."""
    stream = TraceStream(source="log")
    assert stream.feed(encoded(*[LOG] * 30)) == ()
    assert stream.fault_count == 1
    assert "no trace or conversation" in str(stream.faults[0])
    stream.feed(encoded(EVENT) + b"{\n")
    assert stream.events == 1
    assert any(fault.line == 32 for fault in stream.faults)


def test_the_first_line_may_be_cut_off() -> None:
    """A log that begins in the middle of a line is read from the next one on."""
    stream = TraceStream(source="log")
    assert len(stream.feed(b'rgs": {}, "ts": 1.0}\n' + encoded(EVENT, EVENT))) == 2


def test_what_is_unknown_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old lines of a log in no format are let go, and line numbers stay right."""
    monkeypatch.setattr("ebbtide.traces.live._MOST_UNKNOWN", 1000)
    stream = TraceStream(source="log")
    for _ in range(500):
        stream.feed(encoded(LOG))
    assert sum(map(len, stream._waiting)) <= 1000
    stream.feed(encoded(EVENT) + b"{\n")
    assert stream.stats.line == 502


@pytest.mark.parametrize("data", [b"", b"\n", encoded(LOG, LOG), b"hello"])
def test_an_end_without_events_says_so(data: bytes) -> None:
    """Nothing, and nothing known, are errors at the end."""
    stream = TraceStream(source="log")
    stream.feed(data)
    with pytest.raises(TranscriptError, match=r"^log: "):
        stream.finish()


def test_one_value_is_read_at_the_end() -> None:
    """A document that is no JSON lines is read when it is complete."""
    stream = TraceStream()
    assert stream.feed(json.dumps([EVENT, EVENT], indent=1).encode()) == ()
    assert len(stream.finish()) == 2
    assert stream.events == 2


@pytest.mark.parametrize("name", ["claude_code.jsonl", "codex.jsonl", "openhands_v1.jsonl"])
@pytest.mark.parametrize("unit", list(RoundUnit))
def test_a_growing_run_is_a_conversation(samples: Path, name: str, unit: RoundUnit) -> None:
    """Line by line, the rounds are those of reading the whole file."""
    stream = RoundStream(unit=unit)
    rounds = list(stream.feed((samples / name).read_bytes()))
    rounds += stream.finish()
    assert tuple(rounds) == load(samples / name, unit=unit).rounds


@settings(deadline=None, max_examples=60)
@given(rests=st.sets(st.integers(0, 60)))
def test_rests_change_no_amount(rests: set[int]) -> None:
    """What is open is given when the input is at rest, and what comes of it later as its growth."""
    lines = (Path(__file__).parent / "samples" / "claude_code.jsonl").read_bytes().splitlines(keepends=True)
    plain, rested = TraceStream(), TraceStream()
    whole = [*plain.feed(b"".join(lines)), *plain.finish()]
    events: list[TraceItem] = []
    for number, line in enumerate(lines):
        events += rested.feed(line)
        if number in rests:
            events += rested.settle()
            assert rested.settle() == ()
    events += rested.finish()
    assert _amounts(events) == _amounts(whole)


def _amounts(events: list[TraceItem]) -> Counter[tuple[str, str | None]]:
    """Tokens by chain and model, and calls of tools and models."""
    sums: Counter[tuple[str, str | None]] = Counter()
    for event in events:
        assert isinstance(event, Event)
        sums[type(event).__name__, event.chain_id] += isinstance(event, ToolCall) or is_model_call(event)
        if event.usage is not None:
            for key in COUNTS:
                sums[f"{event.chain_id} {key}", event.usage.model] += getattr(event.usage, key) or 0
    return +sums
