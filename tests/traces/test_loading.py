"""Reading a conversation from a file, whatever its format, and refusing what is none."""

import copy
import gzip
import io
import json
import os
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Transcript
from ebbtide.traces.formats import FORMATS
from ebbtide.traces.reading import load, loads

TALK = "Ann: The cache is cold.\nBob: Warm it at boot.\n"
ROUND = {"round": 1, "agent": "ann", "outputs": {"claims": ["The cache is cold."], "decisions": []}}
CONVERSATIONS = [
    json.dumps({"version": "0.1", "rounds": [ROUND]}),
    json.dumps({"type": "transcript_header"}) + "\n" + json.dumps({"type": "round"} | ROUND),
    json.dumps([{"role": "user", "content": "The cache is cold."}]),
    json.dumps({"role": "user", "content": [{"type": "text", "text": "The cache is cold."}]}) + "\n" + "{}",
    TALK,
]


def refusal(path: Path | str) -> str:
    with pytest.raises(TranscriptError) as caught:
        load(path)
    return str(caught.value)


def test_every_format_introduces_itself() -> None:
    """Formats have names of their own, in the order of trying, and a description each."""
    names = [item.name for item in FORMATS]
    assert len(set(names)) == len(names)
    assert (names[0], names[-1]) == ("transcript", "text")
    assert {"claude-code", "codex", "gemini-cli", "swe-agent", "openhands", "inspect", "atif"} <= {*names}
    assert all(item.description for item in FORMATS)


@pytest.mark.parametrize("name", ["talk.txt", "talk.json", "talk"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_content_tells_the_format(tmp_path: Path, name: str, packed: bool) -> None:
    """The name of a file does not matter, nor whether it is compressed."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(TALK.encode()) if packed else TALK.encode())
    assert [item.agent for item in load(path).rounds] == ["Ann", "Bob"]
    assert load(str(path)) == load(path)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash is standard input, which messages call by its name."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TALK.encode())))
    assert len(load("-").rounds) == 2
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert refusal("-") == "<stdin>: the input is empty. A conversation has at least one round."


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    """A missing file, a folder, a loop of links and a name that no file can have are refused by name."""
    (tmp_path / "loop").symlink_to("loop")
    assert refusal(tmp_path / "none.json") == f"{tmp_path}/none.json: no such file"
    assert refusal(tmp_path) == f"{tmp_path}: a folder, not a file"
    assert refusal(tmp_path / "loop").startswith(f"{tmp_path}/loop: cannot be read: ")
    assert refusal("a\0b").endswith("cannot be read: embedded null byte")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may read everything")
def test_what_may_not_be_opened(tmp_path: Path) -> None:
    """A file without permission is refused by name."""
    path = tmp_path / "talk.txt"
    path.write_text(TALK)
    path.chmod(0)
    assert refusal(path) == f"{path}: cannot be read: Permission denied"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x: the input is empty. A conversation has at least one round."),
        (
            b"Ann: caf\xe9\nBob: no",
            "x:1: not UTF-8: invalid continuation byte, 0xe9 at byte 8. Save the file as",
        ),
        (b"\x89PNG\r\n\x1a\n\0", "x: binary, not text: a zero byte at byte 8."),
        (gzip.compress(TALK.encode(), mtime=0)[:-9], "x: broken gzip: "),
        (
            b'{"rounds": [\n{"round": 1,,}]}',
            "x:2: not JSON: Expecting property name enclosed in double quotes, column 13",
        ),
        (b'{"rounds": [', "x:1: not JSON: Expecting value, column 13"),
        (b"[" * 100_000, "x:1: nested too deeply to be read"),
        (
            b'{"type": "user", "message": {}}\n{"type": "x"}\n',
            (
                "x: no trace or conversation in a known format (JSON lines: an object with 'type', "
                "'message'). Nearest is claude-code:"
            ),
        ),
        (b"[1, 2]", "x: no trace or conversation in a known format (one JSON value: a list of 2). "),
        (b"7", "x: no trace or conversation in a known format (one JSON value: a number). "),
        (b"{}", "x: no trace or conversation in a known format (one JSON value: an empty object). "),
        (b"[later] we will see", "x: no trace or conversation in a known format (plain text). "),
    ],
    ids=range(12),
)
def test_what_is_no_conversation(data: bytes, message: str) -> None:
    """The message says what the input is, and where it breaks or why each format refused it."""
    with pytest.raises(TranscriptError) as caught:
        loads(data, source="x")
    assert str(caught.value).startswith(message)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["rounds", "round", "outputs", "claims", "type", "role", "name", "content", "messages"]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A conversation in which a piece was cut out, repeated, or written over."""
    data = draw(st.sampled_from(CONVERSATIONS)).encode()
    start = draw(st.integers(0, len(data)))
    end = draw(st.integers(start, len(data)))
    piece = draw(
        st.sampled_from([b"", data[start:end] * 2, b"[]", b"null", b"1", b'"x"', b"\n", b"}", b"\\ud800"])
        | st.binary()
    )
    return data[:start] + piece + data[end:]


@st.composite
def altered(draw: st.DrawFn) -> str:
    """A conversation, as JSON lines or not, in which values were exchanged for others."""
    documents: list[Any] = [
        json.loads(line) for line in draw(st.sampled_from(CONVERSATIONS[:4])).splitlines()
    ]
    box = copy.deepcopy(documents)
    for _ in range(draw(st.integers(1, 3))):
        container: Any = box
        while True:
            keys = list(container) if isinstance(container, dict) else list(range(len(container)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if not isinstance(container[key], dict | list) or draw(st.booleans()):
                container[key] = draw(json_values)
                break
            container = container[key]
    return "\n".join(map(json.dumps, box))


@settings(max_examples=400)
@given(st.binary() | damaged() | st.text() | altered() | json_values.map(json.dumps))
def test_anything_is_read_or_refused(data: bytes | str) -> None:
    """Any input gives a transcript that can be written out, or a TranscriptError that names the input."""
    try:
        transcript = loads(data, source="x")
    except TranscriptError as error:
        assert str(error).startswith("x")  # noqa: PT017 - both ways out are right
        return
    written = json.dumps(transcript.to_dict(), ensure_ascii=False, allow_nan=False).encode()
    assert Transcript.from_dict(json.loads(written)) == transcript


def megabytes(count: int, *, lines: bool) -> bytes:
    claims = [f"Claim {number} says that the cache is cold and the queue is full." for number in range(50)]
    rounds = [ROUND | {"round": number, "outputs": {"claims": claims}} for number in range(1, count * 250)]
    if lines:
        return "\n".join(json.dumps({"type": "round"} | item) for item in rounds).encode()
    return json.dumps({"rounds": rounds}).encode()


@pytest.mark.parametrize("lines", [True, False], ids=["lines", "one object"])
def test_memory_grows_with_the_input(lines: bool) -> None:
    """Six times the input takes about six times the memory, and at most six times its own size."""
    peaks = []
    for count in (1, 6):
        data = megabytes(count, lines=lines)
        tracemalloc.start()
        loads(data)
        peaks.append(tracemalloc.get_traced_memory()[1] / len(data))
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]
    assert peaks[1] < 6
