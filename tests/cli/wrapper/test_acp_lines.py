"""Lines of the Agent Client Protocol that the proxy reads and writes."""

import json
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.cli.wrapper.acp_lines import (
    answers_of,
    cancel_line,
    messages_of,
    prompts_of,
    refused_line,
    said_line,
    with_notes,
    withdrawal_line,
    without,
)
from ebbtide.cli.wrapper.acp_relay import LineWriter

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NOTE = {"type": "text", "text": "Stop \u20ac."}


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=3), st.lists(VALUES, max_size=3), st.booleans())
def test_a_note_changes_nothing_else(more: dict[str, Any], blocks: list[Any], is_compact: bool) -> None:
    """Whatever the prompt holds, and however its editor writes it."""
    params = {**more, "sessionId": "s", "prompt": blocks}
    message = {**more, "jsonrpc": "2.0", "id": 7, "method": "session/prompt", "params": params}
    line = json.dumps(message, separators=(",", ":") if is_compact else (" , ", " :  ")).encode() + b"\r\n"
    assert prompts_of(line) == {0: "s"}
    noted = with_notes(line, {0: NOTE["text"]})
    assert noted.endswith(b"\r\n")
    assert noted.count(b"\n") == 1
    assert json.loads(noted) == {**message, "params": {**params, "prompt": [*blocks, NOTE]}}


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.binary(max_size=60))
def test_no_bytes_are_an_error(before: bytes, behind: bytes) -> None:
    """They are no prompt."""
    line = before + b'"session/prompt"' + behind
    messages_of(line)
    answers_of(line)
    assert prompts_of(line) == {}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from("prompt answer other junk".split()), min_size=1, max_size=6), st.data())
def test_a_batch_stays_a_batch(kinds: list[str], data: st.DataObject) -> None:
    """Notes go into its prompts, answers are taken out, and all else stays in its order."""
    made: dict[str, Any] = {
        "prompt": {"id": 1, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [7]}},
        "answer": {"id": "a", "result": {"method": "x"}},
        "other": {"method": "session/cancel", "params": {"sessionId": "s"}},
        "junk": [1],
    }
    messages = [made[kind] for kind in kinds]
    line = json.dumps(messages, separators=(" , ", " :  ")).encode() + b"\r\n"
    prompts = [place for place, kind in enumerate(kinds) if kind == "prompt"]
    answers = [place for place, kind in enumerate(kinds) if kind == "answer"]
    assert prompts_of(line) == dict.fromkeys(prompts, "s")
    assert answers_of(line) == dict.fromkeys(answers, "a")
    assert messages_of(line) == [None if kind == "junk" else made[kind] for kind in kinds]
    noted = data.draw(st.sets(st.sampled_from(prompts))) if prompts else set()
    taken = data.draw(st.sets(st.sampled_from(answers))) if answers else set()
    written = without(with_notes(line, dict.fromkeys(noted, NOTE["text"])) if noted else line, taken)
    with_note = {**made["prompt"], "params": {"sessionId": "s", "prompt": [7, NOTE]}}
    left = [
        with_note if place in noted else message
        for place, message in enumerate(messages)
        if place not in taken
    ]
    assert written.endswith(b"\r\n") == bool(left)
    assert (json.loads(written) if written else []) == left


def test_an_answer_is_not_a_request() -> None:
    """It has an id and no method."""
    assert answers_of(b'{"id": 7, "result": null}\n') == {0: 7}
    assert answers_of(b'{"id": "7", "error": {}}\n') == {0: "7"}
    for line in (b'{"id": 7, "method": "x"}', b'{"id": null, "result": 1}', b'{"id": [7]}', b"7", b"[]", b""):
        assert answers_of(line) == {}
    assert without(b'{"id": 7, "result": null}\n', [0]) == b""


@pytest.mark.parametrize("session", ["s", 'a "b"\n', "\u20ac"])
def test_lines_of_ours_are_lines(session: str) -> None:
    """Whatever a session is called."""
    for line in (cancel_line(session), said_line(session, "a\nb")):
        assert line.count(b"\n") == 1
        assert json.loads(line)["params"]["sessionId"] == session
    for line in (refused_line(session), withdrawal_line(session)):
        assert line.count(b"\n") == 1
    assert answers_of(refused_line(session)) == {0: session}
    assert json.loads(withdrawal_line(session))["params"] == {"requestId": session}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=8).map(lambda data: data.replace(b"#", b"\n")), max_size=12), st.data())
def test_lines_go_between_lines(pieces: list[bytes], data: st.DataObject) -> None:
    """Every byte passes in its order, and what is put in stands at the begin of a line."""
    out, into = os.pipe()
    writer = LineWriter(into)
    inserted = 0
    for piece in pieces:
        if data.draw(st.booleans()):
            writer.insert(b"#\n")
            inserted += 1
        writer.write(piece)
    writer.close()
    written = os.read(out, 65536) if any(pieces) or inserted else b""
    os.close(out)
    parts = [line for line in written.splitlines(keepends=True) if line != b"#\n"]
    assert b"".join(parts) == b"".join(pieces)
    assert written.count(b"#") <= inserted
    if b"".join(pieces).endswith(b"\n") or not any(pieces):
        assert written.count(b"#") == inserted


def test_a_closed_writer_refuses() -> None:
    """Its number may be that of another file by now."""
    out, into = os.pipe()
    writer = LineWriter(into)
    writer.close()
    os.close(out)
    with pytest.raises(OSError, match="Bad file descriptor"):
        writer.insert(b"x\n")
