"""Runs and conversations that are still being written: bytes in as they come, events or rounds out."""

from __future__ import annotations

import codecs
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round
from ebbtide.traces.formats import FORMATS
from ebbtide.traces.input.decoding import not_utf8
from ebbtide.traces.input.document import HEAD, Content, Document, shape
from ebbtide.traces.input.json_value import json_value, value_or_none
from ebbtide.traces.input.lines import LineSplitter, Tail
from ebbtide.traces.read_stats import OpenedTrace, ReadStats
from ebbtide.traces.reading import Trace
from ebbtide.traces.records.readers import LineReader, SettlingReader, TraceItem
from ebbtide.traces.sniffing import format_of
from ebbtide.traces.transcripts.conversation import EventLines
from ebbtide.traces.transcripts.turns import RoundUnit

_MOST_UNKNOWN = 8 << 20  # bytes that wait for the line that tells the format


class TraceStream(OpenedTrace):
    r"""Reads growing JSON lines of any format that holds events; the first lines tell which.

    A last line that is only half there waits for its rest. What is no JSON lines is kept, and read at the
    end.

    Args:
        source: What messages call the input.
        unit: What a round is, in conversations that do not say so themselves.

    >>> stream = TraceStream()
    >>> stream.feed(b'{"kind": "tool", "name": "ls", "args": {"pa')
    ()
    >>> [event.name for event in stream.feed(b'th": "."}}\n')]
    ['ls']
    """

    def __init__(self, *, source: str = "<stream>", unit: RoundUnit = RoundUnit.TURN) -> None:
        super().__init__(None, ReadStats(source))
        self._unit = unit
        self._splitter = LineSplitter()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._head: deque[Any] = deque(maxlen=HEAD)
        self._places: deque[int] = deque(maxlen=HEAD)  # numbers of their lines, from 0
        self._is_lines: bool | None = None
        self._has_reported = False
        self._dropped = 0  # lines before those that wait

    def feed(self, data: bytes) -> tuple[TraceItem, ...]:
        """The events that are complete after these bytes, in the order of the run."""
        lines = self._splitter.feed(data)
        return self._taken(lines) if lines else ()

    def settle(self) -> tuple[TraceItem, ...]:
        """Returns what is open while the input is at rest, as in `SettlingReader`; more may be fed later."""
        reader = self.stats.reader
        if not isinstance(reader, SettlingReader):
            return ()
        return (*self._taken(self._splitter.settle()), *self.stats.count(reader.settle()))

    def finish(self) -> tuple[TraceItem, ...]:
        """The events that the end of the input completes.

        Raises:
            TranscriptError: There was nothing in it, or it is in no known format.
        """
        events = self._taken(self._splitter.finish())
        if self.format is not None and self.stats.reader is not None:
            return (*events, *self.stats.finish(self.stats.reader))
        trace = Trace.of(b"\n".join(self._waiting), source=self.source, unit=self._unit)
        self.format, self.stats = trace.format, trace.stats
        return tuple(trace)

    def _decide(self, lines: list[bytes]) -> None:
        """Look for a format that knows the latest lines; those before them are then let go."""
        fresh = False
        for at, line in enumerate(lines):
            self._waiting.append(line)
            self._waiting_bytes += len(line)
            if self._is_lines is False or not line.strip():
                continue
            value = value_or_none(line)
            if self._is_lines is None:
                self._is_lines = _tells_lines(line, value)
            if isinstance(value, dict):
                self._head.append(value)
                self._places.append(self._dropped + len(self._waiting) - 1)
                fresh = True
            if fresh and (len(self._head) == HEAD or at == len(lines) - 1) and self._is_format_known():
                self._waiting += lines[at + 1 :]
                self._drop(self._places[0] - self._dropped)
                return
        while self._is_lines and self._waiting_bytes > _MOST_UNKNOWN:
            self._drop(1)

    def _is_format_known(self) -> bool:
        try:
            form = format_of(Document(content=Content.JSON_LINES, head=tuple(self._head)))
        except TranscriptError as error:
            if len(self._head) == HEAD and not self._has_reported:
                self._has_reported = True
                self.stats.fault(error, line=self._places[-1] + 1)
            return False
        if not form.has_events:
            return False
        self.format = form
        self.stats.reader = form.event_reader()
        return True

    def _drop(self, count: int) -> None:
        """Let the first of the waiting lines go."""
        self._waiting_bytes -= sum(map(len, self._waiting[:count]))
        del self._waiting[:count]
        self._dropped += count

    def _taken(self, lines: list[bytes]) -> tuple[TraceItem, ...]:
        if self.format is None:
            self._decide(lines)
            if self.format is None:
                return ()
            lines, self._waiting = self._waiting, []
            self.stats.line = self._dropped
        reader = self.stats.reader
        return () if reader is None else tuple(chain.from_iterable(self.stats.take_lines(lines, reader)))


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
        self._splitter = LineSplitter()
        self._lines: deque[bytes] = deque()  # that are whole and were not read
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
        self._lines += self._splitter.feed(data)
        self._read_lines()
        return self._take()

    def finish(self) -> tuple[Round, ...]:
        """The rounds that the end of the input completes.

        Raises:
            TranscriptError: The last line is broken, a round is missing, or there was none.
        """
        self._lines += self._splitter.finish()
        self._read_lines()
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

    def _read_lines(self) -> None:
        while self._lines:
            self._read(self._lines.popleft())

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
            if candidate.is_line is not None and candidate.is_line(value):
                return candidate.line_reader(self._unit)
            if candidate.has_events and candidate.refuse(document) is None:
                return EventLines(candidate.event_reader(), self._unit)
        self._unknown += 1
        if self._unknown == HEAD:
            raise TranscriptError(
                f"none of the first {HEAD} lines is a round or a message; this one is {shape(value)}"
            )
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """New content of a file.

    Args:
        rounds: In the order of their numbers.
        errors: Broken lines; what stands around them was read.
        restarted: The file was emptied, rewritten or replaced, and is read from its start. What comes after
            this belongs to a new conversation.
    """

    rounds: tuple[Round, ...] = ()
    errors: tuple[TranscriptError, ...] = ()
    restarted: bool = False


def follow(
    path: str | os.PathLike[str],
    *,
    unit: RoundUnit = RoundUnit.TURN,
    poll_s: float = 0.5,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Growth]:
    """Yields what comes into a file of JSON lines, for as long as the caller asks; first what is there.

    The rounds since the last restart are those that reading the whole file would give; a circle comes when
    the next one begins.

    Args:
        path: The file. It may be emptied, rewritten or replaced meanwhile, or be away for a while.
        unit: What a round is, if the lines do not say so themselves.
        poll_s: Seconds between two looks.
        sleep: Waits so many seconds.

    Raises:
        TranscriptError: At the start the file cannot be read.
    """
    tail = Tail(path)
    stream = RoundStream(unit=unit, source=os.fspath(path))
    with closing(tail):
        while True:
            data = tail.look()
            if data is None:
                stream = RoundStream(unit=unit, source=os.fspath(path))
                yield Growth(restarted=True)
            elif data:
                growth = _growth(stream, data)
                if growth.rounds or growth.errors:
                    yield growth
            else:
                sleep(poll_s)


def _growth(stream: RoundStream, data: bytes) -> Growth:
    rounds: list[Round] = []
    errors: list[TranscriptError] = []
    while True:
        try:
            rounds += stream.feed(data)
        except TranscriptError as error:
            errors.append(error)
            data = b""
        else:
            return Growth(rounds=tuple(rounds), errors=tuple(errors))


def _tells_lines(line: bytes, value: Any) -> bool | None:
    """True if a first line is one of JSON lines; None if it may be the end of one that was cut off."""
    if isinstance(value, dict):
        return True
    return False if line.lstrip().startswith((b"{", b"[")) else None
