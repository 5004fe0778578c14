"""Logs of Inspect, as JSON and as an archive."""

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Event, Message, ModelCall, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.traces.reading import Trace, load, open_trace

if sys.version_info >= (3, 14):
    import zipfile as packer
else:
    from backports.zstd import zipfile as packer


def test_samples_are_chains(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """Events of a sample count, or its messages where it has none; an event that comes twice counts once."""
    found = calls("inspect.json", form="inspect")
    first = [call for call in found if call.chain_id == "s1/1"]
    assert totals(first) == {
        "tool": 2,
        "llm": 3,
        "user": 1,
        "input_tokens": 400 + 100 + 1,
        "output_tokens": 51,
        "cache_read_tokens": 1400,
        "cache_write_tokens": 100,
        "cost_usd": 0.01,
    }
    second = [
        (
            type(call),
            getattr(call, "text", None),
            getattr(call, "result", None),
            getattr(call, "error", False),
        )
        for call in found
        if call.chain_id == "2/1"
    ]
    assert second == [
        (Message, "Old.", None, False),
        (ModelCall, "", None, False),
        (ToolCall, None, "Command timed out.", True),
        (ModelCall, "It hangs.", None, False),
    ]


def test_calls_of_one_answer_are_a_batch(calls: Callable[..., list[Event]]) -> None:
    """Tools that were asked for at once are told as such, each with the time of its end."""
    tools = [call for call in calls("inspect.json", form="inspect") if isinstance(call, ToolCall)]
    assert [(call.batch, call.error) for call in tools[:2]] == [("v2", False), ("v2", True)]
    assert tools[1].result == "Permission denied."
    assert tools[1].ts == tools[0].ts + 1.0 if tools[0].ts else None


@pytest.fixture
def archive(samples: Path, tmp_path: Path) -> Path:
    """The sample as an archive, with a file that is broken."""
    log = json.loads((samples / "inspect.json").read_text())
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps({"eval": log["eval"]}))
        for number, sample in enumerate(log["samples"]):
            file.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
        file.writestr("samples/broken.json", '{"id": 3, "epoch": 1, "events": [{"event": "input"')
    return path


def test_an_archive_gives_the_same(archive: Path, calls: Callable[..., list[Event]]) -> None:
    """Each sample of an archive is read; one that is cut off is a fault with its name."""
    trace = open_trace(archive)
    assert list(trace) == calls("inspect.json", form="inspect")
    assert [item.text for item in load(archive).rounds][-1] == "It hangs."
    (fault,) = trace.faults
    assert str(fault).startswith(f"{archive}: samples/broken.json: not JSON: ")


def test_archives_packed_with_zstandard(archive: Path, tmp_path: Path) -> None:
    """Newer versions pack so; what is broken inside is a fault, and the rest is read."""
    path = tmp_path / "packed.eval"
    with zipfile.ZipFile(archive) as plain, packer.ZipFile(path, "w", packer.ZIP_ZSTANDARD) as packed:
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))
    trace = open_trace(path)
    assert list(trace) == list(open_trace(archive))
    data = bytearray(path.read_bytes())
    at = data.index(b"samples/1_epoch_1.json") + 40
    data[at : at + 60] = bytes(60)
    path.write_bytes(data)
    cut = open_trace(path)
    assert {call.chain_id for call in cut if isinstance(call, Event)} == {"s1/1"}
    assert (trace.fault_count, cut.fault_count) == (1, 2)
    assert any("samples/1_epoch_1.json: cannot be unpacked" in str(fault) for fault in cut.faults)


def test_other_archives_are_refused(archive: Path, tmp_path: Path) -> None:
    """An archive of something else, or one that is cut off, says so."""
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("notes.txt", "nothing")
    cut = tmp_path / "cut.eval"
    cut.write_bytes(archive.read_bytes()[:-100])
    with pytest.raises(ValueError, match="inspect: an archive without samples"):
        open_trace(other)
    with pytest.raises(ValueError, match="broken zip"):
        open_trace(cut)
    with pytest.raises(ValueError, match="Give its path"):
        Trace.of(archive.read_bytes())


def _log(*samples: dict[str, Any], usage: dict[str, Any] | None = None, **fields: Any) -> bytes:
    log = {"version": 2, "status": "success", "eval": {"task": "t"}, **fields}
    if usage is not None:
        log["stats"] = {"model_usage": {"m": usage}}
    return json.dumps({**log, "samples": list(samples)}).encode()


def _model(at: int, text: str, tokens: int = 0, **fields: Any) -> dict[str, Any]:
    return {
        "event": "model",
        "uuid": f"m{at}",
        "timestamp": f"2026-02-07T00:00:{at:02}+00:00",
        "model": "m",
        "output": {
            "choices": [{"message": {"role": "assistant", "content": text}}],
            "usage": {"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens},
        },
        **fields,
    }


def _tool(at: int, ended: int, **fields: Any) -> dict[str, Any]:
    times = {"timestamp": f"2026-02-07T00:00:{at:02}Z", "completed": f"2026-02-07T00:00:{ended:02}Z"}
    return {
        "event": "tool",
        "uuid": f"t{at}",
        "id": "c",
        "function": "sh",
        "arguments": {},
        **times,
        **fields,
    }


@pytest.mark.parametrize("early", [False, True], ids=["events", "transcript"])
def test_long_texts_stand_in_attachments(read_data: Callable[..., Any], early: bool) -> None:
    """They are put in wherever they are named: words, arguments however deep, results."""
    name = "tc" if early else "attachment"
    events = [
        _model(1, f"{name}://a1"),
        _tool(2, 3, arguments={"files": [{"text": f"{name}://b2"}], "n": 1}, result=f"see {name}://c3."),
        _model(4, f"{name}://gone"),
    ]
    texts = {"a1": "Long words.", "b2": "Long file.", "c3": "long result"}
    held = {"transcript": {"events": events, "content": texts}} if early else {"events": events}
    trace, found = read_data(_log({"id": 1, "epoch": 1, **held, **({} if early else {"attachments": texts})}))
    assert trace.fault_count == 0
    assert [tuple(getattr(call, name, None) for name in ("text", "args", "result")) for call in found] == [
        ("Long words.", None, None),
        (None, {"files": [{"text": "Long file."}], "n": 1}, "see long result."),
        (f"{name}://gone", None, None),
    ]


def test_attachments_are_those_of_their_sample(read_data: Callable[..., Any]) -> None:
    """A name may mean another text in the next sample."""
    samples = [
        {"id": n, "epoch": 1, "events": [_model(n, "attachment://a")], "attachments": {"a": f"text {n}"}}
        for n in (1, 2)
    ]
    _, found = read_data(_log(*samples))
    assert [(call.chain_id, call.text) for call in found] == [("1/1", "text 1"), ("2/1", "text 2")]


def test_a_tool_ends_after_the_agent_in_it(read_data: Callable[..., Any]) -> None:
    """Events stand where they began, and are told as they ended: time does not go back."""
    sample = {"id": 1, "epoch": 1, "events": [_tool(1, 9), _model(2, "Inside."), _model(10, "After.")]}
    trace, found = read_data(_log(sample))
    assert [title(call) for call in found] == ["message", "sh", "message"]
    assert trace.late == 0


def test_what_came_from_the_cache_was_not_paid_for(read_data: Callable[..., Any]) -> None:
    """The answer is there, its usage is that of the call that was made before."""
    cached = [_model(1, "Yes.", 100, cache="write"), _model(2, "Yes.", 100, cache="read")]
    _, found = read_data(_log({"id": 1, "epoch": 1, "events": cached}))
    assert [(call.usage or Usage()).input_tokens for call in found] == [100, None]


@pytest.mark.parametrize(
    ("events", "stated", "beyond"),
    [
        ([_model(1, "x", 100)], 100, None),
        ([_model(1, "x", 100)], 250, 150),
        ([_model(1, "x", 100)], 60, None),
        ([], 70, 70),
    ],
    ids=["all told", "attempts that failed", "samples of another log", "no events"],
)
def test_statistics_tell_what_events_do_not(
    read_data: Callable[..., Any], events: list[Any], stated: int, beyond: int | None
) -> None:
    """What the log as a whole took beyond its events is one event more."""
    usage = {"input_tokens": stated, "output_tokens": 0, "total_tokens": stated, "total_cost": 0.5}
    sample = {"id": 1, "epoch": 1, "messages": [{"role": "user", "content": "Hi"}], "events": events}
    _, found = read_data(_log(sample, usage=usage))
    told = [
        ((call.usage or Usage()).input_tokens, (call.usage or Usage()).cost_usd)
        for call in found
        if title(call) == "total"
    ]
    assert told == ([] if beyond is None else [(beyond, 0.5)])


def test_problems_in_messages_of_the_first_version(read_data: Callable[..., Any]) -> None:
    """They stood beside the result, and tools were not named."""
    asked = [{"id": name, "function": "sh", "arguments": {}, "type": "function"} for name in ("a", "b")]
    messages = [
        {"role": "assistant", "content": "", "tool_calls": asked},
        {"role": "tool", "tool_call_id": "b", "content": "", "tool_error": "no such file"},
        {"role": "tool", "tool_call_id": "a", "content": "fine"},
    ]
    _, found = read_data(_log({"id": 1, "epoch": 1, "messages": messages}))
    tools = [(call.name, call.result, call.error) for call in found if isinstance(call, ToolCall)]
    assert tools == [("sh", "no such file", True), ("sh", "fine", False)]


def test_cut_samples_and_names_that_come_twice(tmp_path: Path) -> None:
    """Chunks are read by the number in their names; a sample that was written again is read once."""
    path = tmp_path / "log.eval"
    events = [_model(n, f"attachment://{n}", n) for n in range(12)]
    total = sum(range(12))
    whole = {"id": "w", "epoch": 1, "events": [_model(20, "Whole.")]}
    stats = {"model_usage": {"m": {"input_tokens": total + 5, "output_tokens": 0, "total_tokens": total + 5}}}
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("_journal/start.json", "{}")
        file.writestr("samples/a/b_epoch_1/sample.json", json.dumps({"id": "a/b", "epoch": 1, "input": "?"}))
        file.writestr("samples/a/b_epoch_1/skeleton.json", json.dumps({"events": ["?"]}))
        for name in ("attachments/0", "attachments/10", "events/2", "events/10", "events/0"):
            kind, _, start = name.partition("/")
            upto = {"0": 10 if kind == "attachments" else 2, "2": 10, "10": 12}[start]
            chunk = events if kind == "events" else [f"Text {n}." for n in range(12)]
            file.writestr(f"samples/a/b_epoch_1/{name}.json", json.dumps(chunk[int(start) : upto]))
        file.writestr("samples/a/b_epoch_1/events/uuids.json", json.dumps(["m0"]))
        file.writestr("samples/w_epoch_1.json", json.dumps(whole))
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr("samples/w_epoch_1.json", json.dumps(whole))
        file.writestr("header.json", json.dumps({"eval": {}, "stats": stats}))
    trace = open_trace(path)
    found = [call for call in trace if isinstance(call, Event)]
    assert (trace.fault_count, trace.duplicates) == (0, 0)
    assert [(call.chain_id, call.text) for call in found[:12]] == [("a/b/1", f"Text {n}.") for n in range(12)]
    assert [(call.chain_id, call.text, (call.usage or Usage()).input_tokens) for call in found[12:]] == [
        ("w/1", "Whole.", 0),
        ("", None, 5),
    ]
