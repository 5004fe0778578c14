"""One input, parsed as far as tells what it is: one JSON value, JSON lines, plain text, or an archive."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
from itertools import islice
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.decoding import utf8, zero_byte
from ebbtide.traces.input.json_records import head_of
from ebbtide.traces.input.json_value import json_value, value_or_none

#: So many lines of JSON lines are looked at to tell the format.
HEAD = 10

# "[12:03] Ann" starts like a list and is plain text; what starts like this is meant to be JSON.
_LIKE_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{\]"])')
# Objects in code blocks of such a text make no JSON lines.
_LIKE_MARKDOWN = re.compile(r"\s*(?:#{1,6}\s|_?\*\*\w|<!--)")
_LINE = rb"^[^\S\n]*\S.*$"


class Content(StrEnum):
    """Kind of an input, before anybody asks for its format."""

    JSON = "one JSON value"
    JSON_LINES = "JSON lines"  #: one JSON value a line, the first of them an object
    TEXT = "plain text"
    ARCHIVE = "a zip archive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One input.

    Args:
        content: What it is.
        head: The value of one JSON value; the first values of JSON lines; nothing of plain text; the names in
            an archive.
        data: JSON lines and plain text, as UTF-8.
        not_json: Why plain text is not JSON, or where one JSON value breaks.
        complete: Whether the head of one JSON value is all of it.
    """

    content: Content
    head: tuple[Any, ...] = ()
    data: bytes = b""
    not_json: TranscriptError | None = None
    complete: bool = True

    @classmethod
    def of(cls, data: bytes) -> Document:
        """Returns the document that is in `data`.

        Raises:
            TranscriptError: There is nothing in it, or nothing that can be decoded.
        """
        data = utf8(data)
        lines = re.finditer(_LINE, data, re.MULTILINE)
        first, second = next(lines), next(lines, None)
        if second and isinstance(value_or_none(first[0]), Mapping):
            return cls(content=Content.JSON_LINES, head=tuple(_head(data)), data=data)
        try:
            return cls(content=Content.JSON, head=(json_value(data.decode()),))
        except TranscriptError as error:
            # As a new error: the one that was raised holds on to the whole text.
            return cls(content=Content.TEXT, data=data, not_json=error.located())

    @classmethod
    def beginning(cls, data: bytes, *, complete: bool) -> Document:
        """Returns the document that begins with `data`; more of it may be broken than `of` allows.

        Args:
            data: Its first bytes, as UTF-8; not empty.
            complete: Whether that is all of it.

        Raises:
            TranscriptError: It is binary, or white space only.
        """
        if data.isspace():
            raise TranscriptError("the input is empty", hint="A trace has at least one event.", no_trace=True)
        text = data.decode(errors="replace")
        lines = [line for line in text.split("\n") if line.strip()] if complete else _whole_lines(text)
        head = [value_or_none(line) for line in lines[: HEAD + 1]]
        objects = [value for value in head if isinstance(value, Mapping)]
        if len(lines) > 1 and isinstance(head[0], Mapping):
            return cls(content=Content.JSON_LINES, head=tuple(_valid(lines[:HEAD], head)), data=data)
        if lines and "\0" in text and (among_zeros := _objects_among_zeros(lines)):
            return cls(content=Content.JSON_LINES, head=among_zeros, data=data)
        problem = None
        if complete:
            try:
                return cls(content=Content.JSON, head=(json_value(text),))
            except TranscriptError as error:
                problem = error.located()
        if len(objects) > 1 and not _LIKE_MARKDOWN.match(text):
            return cls(content=Content.JSON_LINES, head=tuple(_valid(lines[:HEAD], head)), data=data)
        if _LIKE_JSON.match(text):
            with suppress(TranscriptError):
                return cls(content=Content.JSON, head=(head_of(text),), not_json=problem, complete=False)
        if "\0" in text:
            raise zero_byte(data)
        return cls(content=Content.TEXT, data=utf8(data) if complete else data, not_json=problem)

    def lines(self) -> Iterator[tuple[int, Any]]:
        """Each JSON value with its line number, from 1; blank lines are passed over.

        Raises:
            TranscriptError: A line is not JSON.
        """
        return iter([(1, *self.head)]) if self.content is Content.JSON else _json_lines(self.data)

    def text_lines(self) -> list[bytes]:
        """The lines of plain text without their ends; decoded they would take up to four times the memory."""
        return [line.removesuffix(b"\r") for line in self.data.split(b"\n")]

    @property
    def like_json(self) -> bool:
        """True if it is meant to be JSON, going by how it starts."""
        return bool(self.head) or bool(_LIKE_JSON.match(self.data[:200].decode(errors="replace")))

    def describe(self) -> str:
        """Returns what it is, in a few words for an error message."""
        return f"{self.content}: {shape(self.head[0])}" if self.head else str(self.content)


def _objects_among_zeros(lines: list[str]) -> tuple[Any, ...]:
    """The first objects of JSON lines among zeros, which a file system leaves where a machine went down."""
    if "\0" not in lines[0] and lines[0].lstrip().startswith(("[", "{")):
        return ()  # one value over many lines
    values = (value_or_none(line) for line in lines if "\0" not in line)
    return tuple(islice((value for value in values if isinstance(value, Mapping)), HEAD))


def _whole_lines(text: str) -> list[str]:
    return [line for line in text.split("\n")[:-1] if line.strip()]


def _valid(lines: list[str], values: list[Any]) -> Iterator[Any]:
    """The values of the lines that are JSON."""
    for line, value in zip(lines, values, strict=False):
        if value is not None or line.strip() == "null":
            yield value


def shape(value: Any) -> str:
    """Returns the kind of a JSON value, in a few words for an error message."""
    if isinstance(value, Mapping):
        keys = [*(repr(key) for key in islice(value, 6)), *(["..."] if len(value) > 6 else [])]
        return f"an object with {', '.join(keys)}" if keys else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    return {str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")


def _head(data: bytes) -> Iterator[Any]:
    with suppress(TranscriptError):
        for _, value in islice(_json_lines(data), HEAD):
            yield value


def _json_lines(data: bytes) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(BytesIO(data), start=1):
        if not line.isspace():
            yield number, json_value(line.decode().rstrip(), first_line=number)
