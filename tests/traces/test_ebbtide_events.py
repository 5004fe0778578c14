"""Ebbtide's own events: the quick way and the careful one, blocks, clocks and rounds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Message, ModelCall, Notice, ToolCall
from ebbtide.events.event_json import read_events
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.ebbtide_events import EbbtideEventsReader
from ebbtide.traces.live import TraceStream
from ebbtide.traces.reading import load_events, loads

texts = st.sampled_from(["", "a", "tool", "system", "clock", "round", '{"x": 1}', "[1"])
odd = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False)
    | texts
    | st.just([1])
    | st.just({"elapsed_s": 2})
)
KEYS = """
    kind args result error text phase chain_id agent seq ts waited_s batch status model cost_usd input_tokens
    cache_read_tokens other
""".split()
events = st.dictionaries(st.sampled_from([*KEYS, "name"]), odd, max_size=4).map(
    lambda event: {"name": "a", **event}
)
plain = st.fixed_dictionaries(
    {"name": texts},
    optional={
        "kind": st.sampled_from(["tool", "llm", "user", "system"]),
        "text": st.none() | texts,
        "input_tokens": st.none() | st.integers(0, 9),
        "args": st.none() | st.just({"elapsed_s": 1.5}),
        "result": texts,
        "ts": st.floats(0, 9) | st.integers(0, 9),
        "seq": st.integers(0, 9),
    },
)
blocks = st.builds(
    lambda times, inner: {"repeat": times, "events": inner}, st.integers(0, 3), st.lists(plain, max_size=3)
)


@given(st.lists(events | plain | blocks, min_size=1, max_size=6))
def test_one_by_one_is_as_all_at_once(wire: list[dict[str, Any]]) -> None:
    """The quick way gives what `read_events` gives of the list, or the same error."""
    reader = EbbtideEventsReader()
    read: list[object] = []
    try:
        for event in wire:
            read += reader.read(event, "events.item")
    except TranscriptError as error:
        with pytest.raises(TranscriptError) as caught:
            list(read_events(wire))
        assert (error.what, error.path) == (caught.value.what, caught.value.path)  # noqa: PT017 - either way
        return
    assert read == list(read_events(wire))


@given(events | plain)
def test_a_line_is_as_a_value(wire: dict[str, Any]) -> None:
    """An event that is read straight from its line is the one that its value gives; others are left alone."""
    event = EbbtideEventsReader().read_line(json.dumps(wire).encode())
    assert event is None or [event] == list(read_events([wire]))


def test_usual_lines_are_read_quickly() -> None:
    """Calls and messages need no closer look, broken lines and blocks do."""
    reader = EbbtideEventsReader()
    assert reader.read_line(b'{"name": "ls", "args": {}, "ts": 2}') == ToolCall(
        name="ls", args={}, ts=2, seq=1
    )
    assert reader.read_line(b'{"kind": "user", "text": "Go."}') == Message(text="Go.", seq=2)
    for line in (b"{", b"", b"[]", b'{"repeat": 1, "events": []}', b'{"kind": "system", "name": "clock"}'):
        assert reader.read_line(line) is None
    assert reader.read({"name": "ls"}, "") == (ToolCall(name="ls", seq=3),)


def test_a_block_has_a_bound() -> None:
    """A block that would fill the memory is refused."""
    block: dict[str, Any] = {"name": "a", "kind": "tool"}
    for _ in range(6):
        block = {"repeat": 100, "events": [block]}
    with pytest.raises(TranscriptError, match="more than 100,000 events in one block"):
        EbbtideEventsReader().read(block, "")


@pytest.mark.parametrize("name", [{}, {"name": None}, {"name": "message"}])
def test_messages_need_no_name(read_data: Callable[..., Any], name: dict[str, Any]) -> None:
    """What a person or a model says is told by its kind, in a file, in a list, and line by line."""
    wire = [{"kind": "user", **name, "text": "Go on."}, {"kind": "llm", **name, "text": "", "model": "m"}]
    expected = [Message(text="Go on.", seq=1), ModelCall(text="", usage=Usage(model="m"), seq=2)]
    lines = "\n".join(map(json.dumps, wire)).encode()
    for data in (lines, json.dumps(wire).encode(), json.dumps({"events": wire}).encode()):
        trace, events = read_data(data)
        assert (trace.format.name, trace.faults, events) == ("ebbtide", (), expected)
    assert [(item.agent, item.text) for item in loads(lines).rounds] == [("user", "Go on.")]
    stream = TraceStream()
    assert [*stream.feed(lines), *stream.finish()] == expected


@pytest.mark.parametrize(
    "wire",
    [
        [{"name": "a", "kind": "tool"}] * 2,
        {"note": {"events": []}, "events": [{"name": "a", "args": {}}] * 2},
        {"events": [{"repeat": 2, "events": [{"name": "a"}]}]},
    ],
)
def test_wrappings(read_data: Callable[..., Any], wire: object) -> None:
    """A list, or an object around one."""
    trace, found = read_data(json.dumps(wire).encode())
    assert trace.format.name == "ebbtide"
    assert [(call.name, call.seq) for call in found] == [("a", 1), ("a", 2)]


def test_all_events_at_once(tmp_path: Path, samples: Path) -> None:
    """Events of any format are loaded; what is no run says so."""
    assert {type(event) for event in load_events(samples / "codex.jsonl")} <= {
        ToolCall,
        ModelCall,
        Message,
        Notice,
    }
    talk = tmp_path / "talk.txt"
    talk.write_text("Ann: one\nBob: two\n")
    with pytest.raises(TranscriptError, match="there are no events, but a text"):
        load_events(talk)
    events = tmp_path / "events.json"
    events.write_text('{"events": [{"name": "round", "kind": "system"}]}')
    with pytest.raises(TranscriptError, match="there are no events in this ebbtide"):
        load_events(events)
