"""Lines of the Agent Client Protocol that the proxy reads or writes itself."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw

_PROMPT: Final = "session/prompt"
_MARKS: Final = (b"session/prompt", rb"session\/prompt")
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])
_BLOCKS: Final = msgspec.json.Decoder(list[Raw])


def message_of(line: bytes) -> dict[str, Any] | None:
    """Returns the message that a line is; None where it is none."""
    try:
        message = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def prompted_session(line: bytes) -> str | None:
    """Returns the session that a line prompts; None where it is no prompt."""
    if not any(mark in line for mark in _MARKS):  # most lines are none, and need not be decoded
        return None
    message = message_of(line) or {}
    params = message.get("params")
    session = params.get("sessionId") if isinstance(params, dict) else None
    return session if message.get("method") == _PROMPT and isinstance(session, str) else None


def with_note(line: bytes, note: str) -> bytes:
    r"""Returns a prompt with one more block of text at its end; all other values of it stay as written.

    >>> with_note(b'{"id": 1, "params": {"sessionId": "s", "prompt": [{"type":  "text"}]}}\n', "Stop.")
    b'{"id":1,"params":{"sessionId":"s","prompt":[{"type":  "text"},{"type":"text","text":"Stop."}]}}\n'

    Raises:
        KeyError, MsgspecError: The line is no prompt.
    """
    encode = msgspec.json.encode
    message = _MEMBERS.decode(line)
    params = _MEMBERS.decode(message["params"])
    blocks = _BLOCKS.decode(params["prompt"])
    params["prompt"] = Raw(encode([*blocks, {"type": "text", "text": note}]))
    message["params"] = Raw(encode(params))
    return encode(message) + line[len(line.rstrip(b"\r\n")) :]


def said_line(session: str, text: str) -> bytes:
    """Returns the line with which the agent of a session says a text to the editor."""
    content = {"type": "text", "text": f"\n\n{text}\n"}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return _notification("session/update", {"sessionId": session, "update": update})


def cancel_line(session: str) -> bytes:
    """Returns the line with which the editor cancels the turn of a session."""
    return _notification("session/cancel", {"sessionId": session})


def _notification(method: str, params: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params}) + b"\n"
