"""A run that is still being recorded: bytes in as they come, events out as they are complete."""

from __future__ import annotations

from collections import deque
from itertools import chain
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.traces.formats import EventFormat, TraceItem
from ebbtide.traces.input.document import HEAD, Content, Document
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.input.lines import LineSplitter
from ebbtide.traces.intake import Intake
from ebbtide.traces.known_formats import AnyFormat, format_of
from ebbtide.traces.trace import Trace
from ebbtide.traces.transcripts.turns import RoundUnit

_MOST_UNKNOWN = 8 << 20  # bytes that wait for the line that tells the format


class TraceStream:
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
        self.source = source
        self._unit = unit
        self._intake = Intake(source)
        self._splitter = LineSplitter()
        self._format: AnyFormat | None = None
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._head: deque[Any] = deque(maxlen=HEAD)
        self._places: deque[int] = deque(maxlen=HEAD)  # numbers of their lines, from 0
        self._is_lines: bool | None = None
        self._told = False
        self._dropped = 0  # lines before those that wait

    @property
    def format(self) -> AnyFormat | None:
        """The format; None while it is not known."""
        return self._format

    @property
    def events(self) -> int:
        """Events given out so far."""
        return self._intake.events

    @property
    def fault_count(self) -> int:
        """How many lines could not be read."""
        return self._intake.fault_count

    @property
    def duplicates(self) -> int:
        """Records that were there before, by their ids, and were dropped."""
        return self._intake.duplicates

    @property
    def late(self) -> int:
        """Events whose time was before that of an earlier event of their chain."""
        return self._intake.late

    @property
    def timed(self) -> bool:
        """Whether events have times."""
        return self._intake.timed > 0

    @property
    def faults(self) -> tuple[TranscriptError, ...]:
        """What could not be read, the first 20."""
        return tuple(self._intake.faults)

    def feed(self, data: bytes) -> tuple[TraceItem, ...]:
        """The events that are complete after these bytes, in the order of the run."""
        lines = self._splitter.feed(data)
        return self._taken(lines) if lines else ()

    def finish(self) -> tuple[TraceItem, ...]:
        """The events that the end of the input completes.

        Raises:
            TranscriptError: There was nothing in it, or it is in no known format.
        """
        found = self._taken(self._splitter.finish())
        if self._format is not None and self._intake.reader is not None:
            return (*found, *self._intake.finish(self._intake.reader))
        trace = Trace.of(b"\n".join(self._waiting), source=self.source, unit=self._unit)
        self._intake = trace.intake
        return tuple(trace)

    def _decide(self, lines: list[bytes]) -> None:
        """Look for a format that knows the latest lines; those before them are then let go."""
        fresh = False
        for at, line in enumerate(lines):
            self._waiting.append(line)
            self._waiting_bytes += len(line)
            if self._is_lines is False or not line.strip():
                continue
            value = _value_or_none(line)
            if self._is_lines is None:
                self._is_lines = _tells_lines(line, value)
            if isinstance(value, dict):
                self._head.append(value)
                self._places.append(self._dropped + len(self._waiting) - 1)
                fresh = True
            if fresh and (len(self._head) == HEAD or at == len(lines) - 1) and self._found():
                self._waiting += lines[at + 1 :]
                self._drop(self._places[0] - self._dropped)
                return
        while self._is_lines and self._waiting_bytes > _MOST_UNKNOWN:
            self._drop(1)

    def _found(self) -> bool:
        try:
            form = format_of(Document(content=Content.JSON_LINES, head=tuple(self._head)))
        except TranscriptError as error:
            if len(self._head) == HEAD and not self._told:
                self._told = True
                self._intake.fault(error, line=self._places[-1] + 1)
            return False
        if not isinstance(form, EventFormat):
            return False
        self._format = form
        self._intake.reader = form.event_reader()
        return True

    def _drop(self, count: int) -> None:
        """Let the first of the waiting lines go."""
        self._waiting_bytes -= sum(map(len, self._waiting[:count]))
        del self._waiting[:count]
        self._dropped += count

    def _taken(self, lines: list[bytes]) -> tuple[TraceItem, ...]:
        if self._format is None:
            self._decide(lines)
            if self._format is None:
                return ()
            lines, self._waiting = self._waiting, []
            self._intake.line = self._dropped
        reader = self._intake.reader
        return () if reader is None else tuple(chain.from_iterable(self._intake.take_lines(lines, reader)))


def _tells_lines(line: bytes, value: Any) -> bool | None:
    """Whether a first line tells of JSON lines; None if it may be the end of one that was cut off."""
    if isinstance(value, dict):
        return True
    return False if line.lstrip().startswith((b"{", b"[")) else None


def _value_or_none(line: bytes) -> Any:
    try:
        return json_value(line.decode())
    except (TranscriptError, UnicodeDecodeError):
        return None
