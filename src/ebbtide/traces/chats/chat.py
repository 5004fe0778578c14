"""Chat messages, as the model interfaces exchange them: a list, an object around one, or a message a line.

Messages with ``role``, ``name`` and ``content``.

A turn is a message with text. What the system, the developer and tools say is no turn, nor is a message
that only calls tools. The speaker is the name, or else the role.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round, Transcript
from ebbtide.traces.chats.sniffing import is_message, list_key
from ebbtide.traces.input.document import Content, Document, shape
from ebbtide.traces.records.readers import read_lines
from ebbtide.traces.transcripts.turns import RoundUnit, Turn, TurnRounds

_NO_SPEAKERS = frozenset({"system", "developer", "tool", "function"})
_TEXT_PARTS = ("text", "input_text", "output_text")
_SPLIT = "Write each conversation to a file of its own."


def read_messages(document: Document, *, title: str, unit: RoundUnit) -> Transcript:
    """The conversation, its rounds made of what the extraction rules find in the turns."""
    reader = ChatLines(unit)
    first = document.head[0]
    if document.content is Content.JSON and not is_message(first):
        key = list_key(first)
        messages = first[key] if key else first
        entries = ((message, f"{key or ''}[{at}]") for at, message in enumerate(messages))
        rounds = tuple(item for entry in entries for item in reader.read(*entry)) + reader.finish()
    else:
        rounds = read_lines(document, reader)
    return Transcript(conversation_id=title, rounds=rounds)


class ChatLines:
    """Reads messages one by one."""

    def __init__(self, unit: RoundUnit) -> None:
        self._rounds = TurnRounds(unit)

    def read(self, value: Any, path: str = "") -> tuple[Round, ...]:
        """The round that this message completes, if it does.

        Args:
            value: The message.
            path: Where it stands in its document, for error messages.

        Raises:
            TranscriptError: It is no message.
        """
        turn = _turn(value, path)
        return self._rounds.add(turn) if turn else ()

    def finish(self) -> tuple[Round, ...]:
        """The round that was still open.

        Raises:
            TranscriptError: No message had text.
        """
        return self._rounds.finish()


def _turn(message: Any, path: str) -> Turn | None:
    if not isinstance(message, Mapping):
        raise TranscriptError(f"expected a message, found {shape(message)}", path=path or None)
    inside = f"{path}." if path else ""
    role, name = message.get("role"), message.get("name")
    if role is None:
        if list_key(message):
            raise TranscriptError(
                "a whole conversation, where a message was expected", path=path or None, hint=_SPLIT
            )
        if isinstance(message.get("type"), str):
            return None  # Logs mix messages with other records, which name their type.
    if not isinstance(role, str):
        raise TranscriptError(f"expected a text, found {shape(role)}", path=f"{inside}role")
    if name is not None and not isinstance(name, str):
        raise TranscriptError(f"expected a text, found {shape(name)}", path=f"{inside}name")
    if role.lower() in _NO_SPEAKERS:
        return None
    return Turn(speaker=name or role, text=_text(message.get("content"), f"{inside}content"))


def _text(content: Any, path: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise TranscriptError(f"expected a text or a list of parts, found {shape(content)}", path=path)
    parts = (_part(part, f"{path}[{at}]") for at, part in enumerate(content))
    return "\n\n".join(part for part in parts if part)


def _part(part: Any, path: str) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise TranscriptError(f"expected a part with a type, found {shape(part)}", path=path)
    if part.get("type", "text") not in _TEXT_PARTS:
        return ""
    text = part.get("text")
    if not isinstance(text, str):
        raise TranscriptError(f"expected a text, found {shape(text)}", path=f"{path}.text")
    return text
