"""Events of an agent's run in the plain format: a JSON list, an object around one, or an event a line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ebbtide.divergence.call import Call, read_call, read_calls
from ebbtide.errors import TranscriptError
from ebbtide.traces.document import Content, Document, shape
from ebbtide.traces.source import read_bytes, source_name


def load_events(path: str | os.PathLike[str]) -> list[Call]:
    """The events in a file.

    Args:
        path: A file, compressed with gzip or not; ``-`` for standard input.

    Raises:
        TranscriptError: It cannot be read; file, line and path are in the error as far as they are known.
    """
    source = source_name(path)
    try:
        document = Document.of(read_bytes(path))
        calls = list(read_calls(_events(document)))
    except TranscriptError as error:
        raise error.located(source=source) from error
    if not calls:
        raise TranscriptError("there are no events", source=source)
    return calls


def _events(document: Document) -> list[Mapping[str, Any]]:
    if document.content is Content.JSON_LINES:
        return [_checked(value, line) for line, value in document.lines()]
    value = document.head[0] if document.content is Content.JSON else None
    events = value.get("events", [value]) if isinstance(value, Mapping) else value
    if not isinstance(events, list):
        found = document.content if value is None else shape(value)
        raise TranscriptError(
            f"no events ({found})",
            hint='Write {"kind": "tool", "name": "...", "args": {...}, "result": "..."}, one a line.',
        )
    return events


def _checked(value: Any, line: int) -> Mapping[str, Any]:
    try:
        if not isinstance(value, Mapping) or "repeat" not in value:
            read_call(value)
    except TranscriptError as error:
        raise error.located(line=line) from error
    event: Mapping[str, Any] = value
    return event
