"""Lines of the Agent Client Protocol that the proxy reads or writes itself.

A line is a message, or a batch: an array of messages. A message is named by its place in its line, from 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

RequestId = str | int | float

_PROMPT: Final = "session/prompt"
_MARKS: Final = (b"session/prompt", rb"session\/prompt")
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])
_BLOCKS: Final = msgspec.json.Decoder(list[Raw])
_NO_JSON: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Head(msgspec.Struct):
    """The members of a message that tell an answer; all others are skipped, however large they are."""

    id: RequestId | None = None
    method: Raw | None = None


_HEADS: Final = msgspec.json.Decoder(_Head | list[Raw])
_HEAD: Final = msgspec.json.Decoder(_Head)


def messages_of(line: bytes) -> list[dict[str, Any] | None]:
    """Returns the messages of a line in their order: None for what is none, and nothing of a blank line.

    >>> messages_of(b'[{"id": 1}, 7]')
    [{'id': 1}, None]
    """
    if not line.strip():
        return []
    try:
        value = msgspec.json.decode(line)
    except _NO_JSON:
        return [None]
    values = value if isinstance(value, list) and value else [value]
    return [message if isinstance(message, dict) else None for message in values]


def prompts_of(line: bytes) -> dict[int, str]:
    """Returns the sessions that a line prompts, by the places of the prompts."""
    if not any(mark in line for mark in _MARKS):  # most lines have none, and need not be decoded
        return {}
    sessions = map(_prompted_session, messages_of(line))
    return {place: session for place, session in enumerate(sessions) if session is not None}


def answers_of(line: bytes) -> dict[int, RequestId]:
    """Returns the requests that a line answers, by the places of the answers.

    >>> answers_of(b'[{"id": 1, "method": "x"}, {"id": "a", "result": {}}]')
    {1: 'a'}
    """
    head = _head_of(_HEADS, line)
    heads = [_head_of(_HEAD, part) for part in head] if isinstance(head, list) else [head]
    return {
        place: one.id
        for place, one in enumerate(heads)
        if isinstance(one, _Head) and one.method is None and one.id is not None
    }


def request_id(message: Mapping[str, Any]) -> RequestId | None:
    """Returns the id by which a request and its answer belong together; None where there is none."""
    number = message.get("id")
    return number if isinstance(number, str | int | float) else None


def with_notes(line: bytes, notes: Mapping[int, str]) -> bytes:
    r"""Returns a line whose prompts have one more block of text each; all other values stay as written.

    Args:
        line: The line.
        notes: The texts, by the places of the prompts.

    >>> with_notes(b'{"id": 1, "params": {"sessionId": "s", "prompt": [{"type":  "text"}]}}\n', {0: "Stop."})
    b'{"id":1,"params":{"sessionId":"s","prompt":[{"type":  "text"},{"type":"text","text":"Stop."}]}}\n'

    Raises:
        KeyError, MsgspecError: A place has no prompt.
    """
    if not _is_batch(line):
        return _with_note(line, notes[0]) + _end_of(line)
    parts = _BLOCKS.decode(line)
    for place, note in notes.items():
        parts[place] = Raw(_with_note(parts[place], note))
    return msgspec.json.encode(parts) + _end_of(line)


def without(line: bytes, places: Collection[int]) -> bytes:
    r"""Returns a line without some of its messages; empty where no other is left.

    >>> without(b'[{"id": 1},  {"id":  2}]\n', [0])
    b'[{"id":  2}]\n'
    """
    if not places:
        return line
    parts = _BLOCKS.decode(line) if _is_batch(line) else [Raw(line)]
    kept = [part for place, part in enumerate(parts) if place not in places]
    return msgspec.json.encode(kept) + _end_of(line) if kept else b""


def said_line(session: str, text: str) -> bytes:
    """Returns the line with which the agent of a session says a text to the editor."""
    content = {"type": "text", "text": f"\n\n{text}\n"}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return _line(method="session/update", params={"sessionId": session, "update": update})


def cancel_line(session: str) -> bytes:
    """Returns the line with which the editor cancels the turn of a session."""
    return _line(method="session/cancel", params={"sessionId": session})


def refused_line(request: RequestId) -> bytes:
    """Returns the line with which the editor answers a request for permission in a turn that it cancelled."""
    return _line(id=request, result={"outcome": {"outcome": "cancelled"}})


def withdrawal_line(request: RequestId) -> bytes:
    """Returns the line with which the agent withdraws a request; an editor may not know it, and go on."""
    return _line(method="$/cancel_request", params={"requestId": request})


def _prompted_session(message: Mapping[str, Any] | None) -> str | None:
    params = None if message is None else message.get("params")
    session = params.get("sessionId") if isinstance(params, dict) else None
    is_prompt = message is not None and message.get("method") == _PROMPT
    return session if is_prompt and isinstance(session, str) else None


def _head_of(decoder: msgspec.json.Decoder[Any], data: bytes | Raw) -> Any:
    try:
        return decoder.decode(data)
    except _NO_JSON:
        return None


def _with_note(message: bytes | Raw, note: str) -> bytes:
    encode = msgspec.json.encode
    members = _MEMBERS.decode(message)
    params = _MEMBERS.decode(members["params"])
    blocks = _BLOCKS.decode(params["prompt"])
    params["prompt"] = Raw(encode([*blocks, {"type": "text", "text": note}]))
    members["params"] = Raw(encode(params))
    return encode(members)


def _is_batch(line: bytes) -> bool:
    return line.lstrip().startswith(b"[")


def _end_of(line: bytes) -> bytes:
    return line[len(line.rstrip(b"\r\n")) :]


def _line(**members: Any) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **members}) + b"\n"
