"""A conversation that is still being written: bytes in as they come, rounds out as they are complete."""

from __future__ import annotations

import codecs
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round
from ebbtide.traces.formats import EventFormat, LineFormat, LineReader
from ebbtide.traces.input.decoding import not_utf8
from ebbtide.traces.input.document import HEAD, Content, Document, shape
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.known_formats import FORMATS
from ebbtide.traces.transcripts.conversation import EventLines
from ebbtide.traces.transcripts.turns import RoundUnit


class RoundStream:
    r"""Reads growing JSON lines of any format with a conversation. The first line that one knows decides.

    A last line that is only half there waits for its rest. When a line is broken, `feed` raises and the
    line is left out; nothing else is lost, and ``feed(b"")`` goes on after it.

    Args:
        unit: What a round is, if the lines do not say so themselves.
        source: What messages call the input.

    >>> stream = RoundStream()
    >>> stream.feed(b'{"type": "round", "round": 1, "outputs": {"cla')
    ()
    >>> [item.number for item in stream.feed(b'ims": []}}\n')]
    [1]
    """

    def __init__(self, *, unit: RoundUnit = RoundUnit.TURN, source: str | None = None) -> None:
        self._unit = unit
        self._source = source
        self._buffer = bytearray()
        self._searched = 0
        self._line = 0
        self._offset = 0  # of the line that is read
        self._unknown = 0
        self._reader: LineReader | None = None
        self._ready: list[Round] = []

    def feed(self, data: bytes) -> tuple[Round, ...]:
        """The rounds that are complete after these bytes, in the order of their numbers.

        Raises:
            TranscriptError: A line is broken, with its number.
        """
        self._buffer += data
        while (end := self._buffer.find(b"\n", self._searched)) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            self._searched = 0
            self._read(line)
        self._searched = len(self._buffer)
        return self._take()

    def finish(self) -> tuple[Round, ...]:
        """The rounds that the end of the input completes.

        Raises:
            TranscriptError: The last line is broken, a round is missing, or there was none.
        """
        line = bytes(self._buffer)
        self._buffer.clear()
        self._searched = 0
        self._read(line)
        if self._reader is None:
            raise TranscriptError("there are no rounds", source=self._source)
        try:
            self._ready += self._reader.finish()
        except TranscriptError as error:
            raise error.located(source=self._source) from None
        return self._take()

    def _take(self) -> tuple[Round, ...]:
        ready = tuple(self._ready)
        self._ready.clear()
        return ready

    def _read(self, line: bytes) -> None:
        start = self._offset
        self._line += 1
        self._offset += len(line) + 1
        if self._line == 1 and line.startswith(codecs.BOM_UTF8):
            start += len(codecs.BOM_UTF8)
            line = line.removeprefix(codecs.BOM_UTF8)
        if not line or line.isspace():
            return
        try:
            value = json_value(line.decode().rstrip(), first_line=self._line)
            reader = self._reader or self._reader_for(value)
            if reader is not None:
                self._reader = reader
                self._ready += reader.read(value)
        except UnicodeDecodeError as error:
            raise not_utf8(error, offset=start, line=self._line).located(source=self._source) from None
        except TranscriptError as error:
            raise error.located(source=self._source, line=self._line) from None

    def _reader_for(self, value: Any) -> LineReader | None:
        document = Document(content=Content.JSON_LINES, head=(value,))
        for candidate in FORMATS:
            if isinstance(candidate, LineFormat) and candidate.knows(value):
                return candidate.line_reader(self._unit)
            if isinstance(candidate, EventFormat) and candidate.refusal(document) is None:
                return EventLines(candidate.event_reader(), self._unit)
        self._unknown += 1
        if self._unknown == HEAD:
            raise TranscriptError(
                f"none of the first {HEAD} lines is a round or a message; this one is {shape(value)}"
            )
        return None
