"""Which formats there are, and how to read a conversation in any of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ebbtide.convergence.transcript import Transcript
from ebbtide.errors import TranscriptError
from ebbtide.traces.chat import Chat
from ebbtide.traces.document import Document
from ebbtide.traces.formats import ConversationFormat, Format, LineFormat
from ebbtide.traces.plain_text import PlainText
from ebbtide.traces.source import read_bytes, source_name
from ebbtide.traces.transcript_json import TranscriptJson
from ebbtide.traces.transcript_jsonl import TranscriptJsonl
from ebbtide.traces.turns import RoundUnit

LINE_FORMATS: tuple[LineFormat, ...] = (TranscriptJsonl(), Chat())
_CONVERSATIONS: tuple[ConversationFormat, ...] = (TranscriptJson(), *LINE_FORMATS, PlainText())


def formats() -> tuple[Format, ...]:
    """Every format that can be read, in the order in which they are tried."""
    return _CONVERSATIONS


def load(path: str | os.PathLike[str], *, unit: RoundUnit = RoundUnit.TURN) -> Transcript:
    """The conversation in a file of any known format, told by its content.

    Args:
        path: A file, compressed with gzip or not; ``-`` for standard input.
        unit: What a round is, in formats that do not say so themselves.

    Raises:
        TranscriptError: It cannot be read; file, line and path are in the error as far as they are known.
    """
    return loads(read_bytes(path), source=source_name(path), unit=unit)


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
    try:
        # Half surrogate pairs, which no encoding has, become question marks.
        document = Document.of(data.encode(errors="replace") if isinstance(data, str) else data)
        reader = _format_of(document)
        return reader.read_transcript(document, title=_title(source), unit=unit)
    except TranscriptError as error:
        raise error.located(source=source) from error


def _format_of(document: Document) -> ConversationFormat:
    refusals = []
    for candidate in _CONVERSATIONS:
        refusal = candidate.refusal(document)
        if refusal is None:
            return candidate
        refusals.append(f"\n  {candidate.name}: {refusal}")
    # "[12:03] Ann" starts like a list and is plain text; what starts like this is meant to be JSON.
    if document.not_json and re.match(rb'\s*[\[{]\s*[\[{\]}"]', document.data):
        raise document.not_json
    raise TranscriptError(
        f"no conversation in a known format ({document.describe()})",
        hint=f'Simplest to write: {{"role": "...", "content": "..."}}, one a line. Tried:{"".join(refusals)}',
    )


def _title(source: str) -> str:
    name = Path(source.strip("<>")).name.removesuffix(".gz")
    return Path(name).stem or name or "conversation"
