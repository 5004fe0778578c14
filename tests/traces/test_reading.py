"""Any trace as a stream of events: what is read of broken input, and what is said of it."""

import gzip
import io
import json
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.errors import TranscriptError
from ebbtide.events.event import title
from ebbtide.events.transcript import Round
from ebbtide.traces.formats import FORMATS
from ebbtide.traces.input import lines as line_splitting
from ebbtide.traces.live import TraceStream
from ebbtide.traces.reading import Trace, loads, open_trace

SAMPLES = sorted((Path(__file__).parent / "samples").iterdir())
AGENTS = ("atif", "claude", "codex", "gemini", "inspect", "mini_swe", "opencode", "openhands")
RUNS = [path for path in SAMPLES if path.name.startswith(AGENTS)]
EVENT = {"kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a", "ts": 1.0}


def jsonl(*values: object) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def refusal(data: bytes) -> str:
    with pytest.raises(TranscriptError) as caught:
        Trace.of(data, source="x")
    return str(caught.value)


def test_a_broken_line_is_a_fault(read_data: Callable[..., Any]) -> None:
    """It is told with its number, and the lines around it are read."""
    data = jsonl(EVENT) + b'{"kind": "tool", "na\n\n\xff\n' + jsonl({"name": 3, "kind": "tool"}, EVENT)
    trace, events = read_data(data)
    assert [title(event) for event in events] == ["ls", "ls"]
    assert [(fault.source, fault.line) for fault in trace.faults] == [("x", 2), ("x", 4), ("x", 5)]
    assert [str(fault).split(":", 2)[2][:25] for fault in trace.faults] == [
        " not JSON: Unterminated s",
        " not UTF-8: invalid start",
        " event.name: 3: expected ",
    ]


@settings(max_examples=30)
@given(
    st.integers(64, 700),
    st.dictionaries(st.integers(50, 1_500), st.sampled_from([b"\xff{", b"", b" \t", b"{,"]), max_size=12),
)
def test_faults_are_placed_the_same_however_the_bytes_come(size: int, odd: dict[int, bytes]) -> None:
    """Lines are read in blocks; a fault has the line and the byte that it has in the file."""
    written = [odd.get(number, jsonl({**EVENT, "seq": number}).strip()) for number in range(1_501)]
    data = b"\n".join(written)
    trace = Trace.of((data[at : at + size] for at in range(0, len(data), size)), source="x", whole_bytes=999)
    assert [event.seq for event in trace] == [number for number in range(1_501) if number not in odd]
    starts = [sum(map(len, written[:number])) + number for number in range(1_501)]
    broken = sorted(number for number, line in odd.items() if line.strip())
    assert [fault.line for fault in trace.faults] == [number + 1 for number in broken]
    for number, fault in zip(broken, trace.faults, strict=True):
        assert (f"0xff at byte {starts[number]}" in fault.what) == odd[number].startswith(b"\xff")


def test_faults_are_kept_up_to_a_bound(read_data: Callable[..., Any]) -> None:
    """Twenty are kept; all are counted."""
    trace, events = read_data(jsonl(EVENT) + b"{\n" * 1000)
    assert (len(events), len(trace.faults), trace.fault_count) == (1, 20, 1000)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x: the input is empty."),
        (b" \n\n", "x: the input is empty."),
        (gzip.compress(b"", mtime=0), "x: the input is empty."),
        (b"\x89PNG\r\n\x1a\n\0\0", "x: binary, not text: a zero byte at byte 8."),
        (b"hello", "x: no trace or conversation in a known format (plain text). "),
        (b"{}", "x: no trace or conversation in a known format (one JSON value: an empty object). "),
        (b'{"a": 1, "b"', "x:1: not JSON: "),
        (gzip.compress(b"abc", mtime=0)[:12], "x: broken gzip: "),
    ],
)
def test_what_cannot_be_read_at_all(data: bytes, message: str) -> None:
    """There is a message, not a trace without events."""
    assert refusal(data).startswith(message)


def test_each_format_says_why_it_refused() -> None:
    """The message lists every format that was tried."""
    message = refusal(b'{"a": 1}\n{"b": 2}\n')
    assert all(f"\n  {item.name}: " in message for item in FORMATS)


def test_a_cut_off_gzip_is_read_up_to_the_cut(read_data: Callable[..., Any]) -> None:
    """What can be unpacked counts; that there is no more is a fault."""
    data = jsonl(*[EVENT | {"result": sha256(b"%d" % number).hexdigest()} for number in range(2000)])
    packed = gzip.compress(data, mtime=0)
    whole, all_events = read_data(packed + gzip.compress(data, mtime=0))
    assert (whole.fault_count, len(all_events)) == (0, 4000)
    trace, events = read_data(packed[: len(packed) // 2])
    assert 800 < len(events) < 1200
    assert any("broken gzip" in str(fault) for fault in trace.faults)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings(read_data: Callable[..., Any], encoding: str) -> None:
    """A byte order mark tells UTF-16; that of UTF-8 goes."""
    text = json.dumps(EVENT | {"result": "gr\u00fcn"}, ensure_ascii=False) + "\n"
    _, events = read_data((text * 2).encode(encoding))
    assert [event.result for event in events] == ["gr\u00fcn"] * 2


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash is standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(jsonl(EVENT, EVENT))))
    trace = open_trace("-")
    assert (trace.source, len(list(trace))) == ("<stdin>", 2)


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    """A missing file and a folder are refused by name."""
    with pytest.raises(TranscriptError, match="no such file"):
        open_trace(tmp_path / "none.jsonl")
    with pytest.raises(TranscriptError, match="a folder, not a file"):
        open_trace(tmp_path)


def test_a_long_line_is_read(read_data: Callable[..., Any]) -> None:
    """A line of 50 MB is a line, wherever it stands."""
    long = EVENT | {"result": "x" * 50_000_000}
    for data in (jsonl(long), jsonl(EVENT, long, EVENT)):
        trace, events = read_data(data)
        assert trace.fault_count == 0
        assert max(len(event.result) for event in events) == 50_000_000


def test_a_line_beyond_all_bounds_is_a_fault(monkeypatch: pytest.MonkeyPatch, read_data: Any) -> None:
    """It is left out and told; what comes after it is read with the right number."""
    monkeypatch.setattr("ebbtide.traces.read_stats.LONGEST_LINE", 1000)
    trace, events = read_data(jsonl(EVENT, EVENT | {"result": "x" * 1000}, EVENT) + b"{\n")
    assert len(events) == 2
    assert [str(fault)[:32] for fault in trace.faults] == [
        "x:2: a line of more than 1,000 b",
        "x:4: not JSON: Expecting propert",
    ]
    splitter = line_splitting.LineSplitter(longest=10)
    assert splitter.feed(b"a" * 8 + b"\n" + b"b" * 8) == [b"a" * 8]
    assert splitter.feed(b"b" * 100) == []
    assert splitter.feed(b"b\nc") == [b"b" * 11]
    assert splitter.finish() == [b"c"]


def test_times_out_of_order_are_told(read_data: Callable[..., Any]) -> None:
    """An event before an earlier one of its chain is late; events without time have none."""
    trace, _ = read_data(
        jsonl(
            *[EVENT | {"ts": ts, "chain_id": name} for ts, name in ((5, "a"), (1, "b"), (4, "a"), (6, "a"))]
        )
    )
    assert (trace.timed, trace.late) == (True, 1)
    trace, _ = read_data(jsonl({"kind": "tool", "name": "ls"}, {"kind": "tool", "name": "ls"}))
    assert (trace.timed, trace.late) == (False, 0)


def test_rounds_come_through_the_same_door(read_data: Callable[..., Any]) -> None:
    """Transcripts and plain text give rounds."""
    one = {"round": 1, "outputs": {"claims": ["The cache is cold."]}}
    documents = (
        json.dumps({"rounds": [one, one | {"round": 2}]}),
        "\n".join(json.dumps({"type": "round"} | one | {"round": number}) for number in (2, 1)),
        "Ann: The cache is cold.\nBob: Warm it at boot.\n",
    )
    for document in documents:
        trace, events = read_data(document.encode())
        assert [event.number for event in events if isinstance(event, Round)] == [1, 2]
        assert (trace.fault_count, trace.events) == (0, 2)
    trace, events = read_data(json.dumps({"rounds": [one, one | {"round": 3}, one, 7]}).encode())
    assert len(events) == 1
    assert [fault.path for fault in trace.faults] == ["rounds[2].round", "rounds[3]", "rounds[1].round"]


def test_a_broken_document_is_read_up_to_the_break(read_data: Callable[..., Any]) -> None:
    """Of one JSON value that is cut off, the records before the cut count."""
    data = json.dumps([EVENT] * 10, indent=1).encode()
    trace, events = read_data(data[:-40])
    assert (len(events), trace.fault_count) == (9, 1)
    assert trace.faults[0].line == 87


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_stream_gives_what_the_file_gives(path: Path) -> None:
    """However the bytes come, the events are the same."""
    data = path.read_bytes()
    trace = Trace.of(data)
    events = list(trace)
    for size in (1, 100, 4096):
        stream = TraceStream()
        found: list[Any] = []
        for start in range(0, len(data), size):
            found += stream.feed(data[start : start + size])
        found += stream.finish()
        assert found == events
        assert stream.format in (None, trace.format)


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_every_run_is_a_conversation(path: Path) -> None:
    """Rounds are what models and users say."""
    assert loads(path.read_bytes()).rounds


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A sample in which a piece was cut out, repeated, or written over."""
    data = draw(st.sampled_from(SAMPLES)).read_bytes()
    start = draw(st.integers(0, len(data)))
    end = min(len(data), start + draw(st.integers(0, 200)))
    piece = draw(
        st.sampled_from(
            [b"", data[start:end] * 2, b"[]", b"{}", b"null", b"1", b'"x"', b"\n", b"}", b"\\ud800"]
        )
        | st.binary(max_size=20)
    )
    return data[:start] + piece + (data[end:] if draw(st.booleans()) else b"")


def replaced(value: Any, number: int, new: Any) -> Any:
    """`value` with its inner value of that number exchanged."""
    counter = iter(range(number + 1))

    def walk(inner: Any) -> Any:
        if next(counter, None) == number:
            return new
        if isinstance(inner, dict):
            return {key: walk(item) for key, item in inner.items()}
        return [walk(item) for item in inner] if isinstance(inner, list) else inner

    return walk(value)


ODD = [
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    "",
    "x",
    [],
    {},
    [[]],
    [{}],
    {"type": []},
    ["x"],
    {"text": 1},
    {"x": {"y": []}},
]


@st.composite
def altered(draw: st.DrawFn) -> bytes:
    """A sample in which values were exchanged for others."""
    path = draw(st.sampled_from([path for path in SAMPLES if path.suffix != ".md"]))
    text = path.read_text()
    values = (
        [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]
    )
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(values) - 1))
        values[at] = replaced(values[at], draw(st.integers(0, 60)), draw(st.sampled_from(ODD)))
    return "\n".join(map(json.dumps, values)).encode()


@settings(max_examples=200)
@given(damaged() | altered(), st.sampled_from([64, 8 << 20]))
def test_anything_is_read_or_refused(data: bytes, whole_bytes: int) -> None:
    """Nothing but a TranscriptError comes out of a damaged trace, and every event is whole."""
    try:
        events = list(Trace.of(data, source="x", whole_bytes=whole_bytes))
    except TranscriptError as error:
        assert str(error).startswith("x")  # noqa: PT017 - both ways out are right
        return
    for event in events:
        if isinstance(event, Round):
            continue
        assert isinstance(title(event), str)
        assert isinstance(getattr(event, "text", None), str | None)
        assert event.usage is None or event.usage.checked()


@settings(max_examples=50)
@given(damaged() | altered())
def test_a_stream_of_anything_ends(data: bytes) -> None:
    """A stream takes any bytes; only its end may say that there was no trace."""
    stream = TraceStream()
    for start in range(0, len(data), 500):
        stream.feed(data[start : start + 500])
    try:
        stream.finish()
    except TranscriptError:
        return
    assert stream.events >= 0


def pieces(count: int, *, form: str) -> Iterator[bytes]:
    """A trace of many events, made as it is read."""
    line = json.dumps(EVENT | {"result": "x" * 1000}).encode()
    if form == "lines":
        for _ in range(count):
            yield line + b"\n"
    else:
        yield b'{"about": {"x": [1, 2]}, "events": ['
        for _ in range(count):
            yield line + b",\n"
        yield line + b"]}"


@pytest.mark.parametrize("form", ["lines", "one value"])
def test_memory_is_bounded(form: str) -> None:
    """Ten times the input takes no more memory."""
    peaks = []
    for count in (2_000, 10_000):
        tracemalloc.start()
        trace = Trace.of(pieces(count, form=form), whole_bytes=1 << 16)
        assert sum(1 for _ in trace) >= count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_a_pipe_is_read_once() -> None:
    """Nothing of a pipe that a shell opened is lost by looking at what it is."""
    reading, writing = os.pipe()
    os.write(writing, jsonl(EVENT, EVENT))
    os.close(writing)
    trace = open_trace(f"/dev/fd/{reading}")
    assert (len(list(trace)), trace.fault_count) == (2, 0)
    os.close(reading)
