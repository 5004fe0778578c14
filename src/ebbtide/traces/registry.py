"""How to read a conversation in any format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.event import ToolCall
from ebbtide.events.transcript import Round, Transcript
from ebbtide.traces.formats import ConversationFormat
from ebbtide.traces.input.document import Document
from ebbtide.traces.input.source import STDIN, ZIP, read_bytes, source_name
from ebbtide.traces.known_formats import FORMATS, AnyFormat, format_of
from ebbtide.traces.trace import Trace, open_trace
from ebbtide.traces.transcripts.conversation import Conversation
from ebbtide.traces.transcripts.turns import RoundUnit


def formats() -> tuple[AnyFormat, ...]:
    """Every format that can be read, in the order in which they are tried."""
    return FORMATS


def load(path: str | os.PathLike[str], *, unit: RoundUnit = RoundUnit.TURN) -> Transcript:
    """The conversation in a file of any known format, told by its content.

    Args:
        path: A file, compressed with gzip or not; ``-`` for standard input.
        unit: What a round is, in formats that do not say so themselves.

    Raises:
        TranscriptError: It cannot be read; file, line and path are in the error as far as they are known.
    """
    data = read_bytes(path)
    if data.startswith(ZIP) and os.fspath(path) != STDIN:
        trace = open_trace(path, unit=unit)
        try:
            return _said_in(trace, unit)
        except TranscriptError as error:
            raise error.located(source=trace.source) from error
    return loads(data, source=source_name(path), unit=unit)


def loads(data: bytes | str, *, source: str = "<data>", unit: RoundUnit = RoundUnit.TURN) -> Transcript:
    r"""The conversation in `data`, in any known format.

    Args:
        data: The content of a file.
        source: What messages call it; the conversation is named after it if it has no name of its own.
        unit: What a round is, in formats that do not say so themselves.

    Raises:
        TranscriptError: It cannot be read.

    >>> loads("Ann: Ship it today.\nBob: Not before the test has run.").rounds[1].agent
    'Bob'
    """
    # Half surrogate pairs, which no encoding has, become question marks.
    data = data.encode(errors="replace") if isinstance(data, str) else data
    try:
        document = Document.of(data)
        found = format_of(document)
        if isinstance(found, ConversationFormat):
            return found.read_transcript(document, title=_title(source), unit=unit)
        return _said_in(Trace.of(data, source=source), unit)
    except TranscriptError as error:
        raise error.located(source=source) from error


def _said_in(trace: Trace, unit: RoundUnit) -> Transcript:
    """What models and users say in a run.

    What could not be read of it is kept as ``faults``; how many calls of tools there were, as ``tool_calls``.
    """
    conversation = Conversation(unit)
    rounds: list[Round] = []
    tool_calls = 0
    for event in trace:
        rounds += conversation.add(event)
        tool_calls += isinstance(event, ToolCall)
    rounds += conversation.finish()
    extra: dict[str, Any] = {"tool_calls": tool_calls} if tool_calls else {}
    if trace.faults:
        extra["faults"] = [str(fault) for fault in trace.faults]
    return Transcript(conversation_id=_title(trace.source), rounds=tuple(rounds), extra=extra)


def _title(source: str) -> str:
    name = Path(source.strip("<>")).name.removesuffix(".gz")
    return Path(name).stem or name or "conversation"
