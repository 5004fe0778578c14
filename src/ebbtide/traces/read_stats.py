"""Counts of what comes out of a trace: its events, and what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.events.transcript import Round
from ebbtide.traces.content_capture import capture_advice
from ebbtide.traces.formats import Format
from ebbtide.traces.input.decoding import not_utf8
from ebbtide.traces.input.json_value import json_value, too_deep
from ebbtide.traces.input.lines import LONGEST_LINE
from ebbtide.traces.records.readers import EventReader, TraceItem

FAULTS_KEPT = 20
_BLOCK = 500  # events; what reads them and what looks at them keep out of each other's caches
_MOST_CHAINS = 10_000  # whose latest time is remembered


class ReadStats:
    """Takes records, gives events; a broken record is a fault, and the rest is read.

    Attributes:
        source: What messages call the input.
        line: Number of the line that was read last.
        faults: The first faults, at most 20.
        fault_count: How many there were.
        events: Events given out.
        timed: Those of them that had a time.
        late: Those whose time was before that of an earlier event of their chain.
        reader: What reads the records; None before the first, and where none is needed.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.line = 0
        self.faults: list[TranscriptError] = []
        self.fault_count = 0
        self.events = 0
        self.timed = 0
        self.late = 0
        self.reader: EventReader | None = None
        self._latest: dict[str, float] = {}
        self._offset = 0

    def take_lines(self, lines: Sequence[bytes], reader: EventReader) -> Iterator[Sequence[TraceItem]]:
        """The events that more lines complete, in blocks: each is read before any of it is looked at."""
        read, before, number = reader.read, self.line, self.line
        quick: Callable[[bytes], Event | None] | None = getattr(reader, "read_line", None)
        block: list[TraceItem] = []
        for line in lines:
            number += 1
            if not line:
                continue
            if len(line) > LONGEST_LINE:
                self.fault(TranscriptError(f"a line of more than {LONGEST_LINE:,} bytes"), line=number)
                continue
            event = None if quick is None else quick(line)
            try:
                if event is not None:
                    block.append(event)
                else:
                    block += read(json_value(line, first_line=number), "")
            except UnicodeDecodeError as error:
                start = self._offset + _size(lines[: number - before - 1])
                self.fault(not_utf8(error, offset=start, line=number))
            except TranscriptError as error:
                if not line.isspace():
                    self.fault(error, line=number)
            except RecursionError:
                self.fault(too_deep(number))
            if len(block) >= _BLOCK:
                self.line = number
                yield self.count(block)
                block = []
        self.line = number
        self._offset += _size(lines)
        if block:
            yield self.count(block)

    def take_record(
        self, path: str, value: Any, reader: EventReader, *, place: str = ""
    ) -> Sequence[TraceItem]:
        """The events that one more record of a JSON value completes.

        Args:
            path: Which of the format's paths it stands at.
            value: The record.
            reader: Reads it.
            place: What messages call its place; empty: the path.
        """
        try:
            return self.count(reader.read(value, path))
        except TranscriptError as error:
            self.fault(error if error.path else _placed(error, place or path))
        except RecursionError:
            self.fault(_placed(too_deep(), place or path))
        return ()

    def finish(self, reader: EventReader) -> Sequence[TraceItem]:
        """The events that the end of the input completes."""
        try:
            return self.count(reader.finish())
        except TranscriptError as error:
            self.fault(error)
            return ()

    def fault(self, error: TranscriptError, *, line: int | None = None) -> None:
        """Note what could not be read."""
        self.fault_count += 1
        if len(self.faults) < FAULTS_KEPT:
            # As a new error: the one that was raised holds on to the text.
            self.faults.append(error.located(source=self.source, line=line))

    def count(self, events: Sequence[TraceItem]) -> Sequence[TraceItem]:
        """The same events, counted."""
        latest, timed = self._latest, 0
        self.events += len(events)
        for event in events:
            if not isinstance(event, Round) and (ts := event.ts) is not None:
                timed += 1
                before = latest.get(event.chain_id)
                if before is None:
                    if len(latest) < _MOST_CHAINS:
                        latest[event.chain_id] = ts
                elif ts < before:
                    self.late += 1
                else:
                    latest[event.chain_id] = ts
        self.timed += timed
        return events


class OpenedTrace:
    """A run that is read: its format, and what was counted so far.

    Attributes:
        source: What messages call it.
        format: Its format; None while that is not known.
        stats: What counts.
    """

    def __init__(self, form: Format | None, stats: ReadStats) -> None:
        self.source = stats.source
        self.format = form
        self.stats = stats

    @property
    def events(self) -> int:
        """Events given out so far."""
        return self.stats.events

    @property
    def faults(self) -> tuple[TranscriptError, ...]:
        """Errors of what could not be read, the first 20."""
        return tuple(self.stats.faults)

    @property
    def fault_count(self) -> int:
        """Number of errors in all."""
        return self.stats.fault_count

    @property
    def capture_advice(self) -> str:
        """Advice on what to switch on for arguments, answers and words to be recorded; empty if not known."""
        form, scopes = self.format, getattr(self.stats.reader, "scopes", ())
        return "" if form is None else capture_advice(form.name, scopes)

    @property
    def title(self) -> str:
        """Name that the agent gave the run; empty if it has none."""
        return getattr(self.stats.reader, "title", "")

    @property
    def project(self) -> str | None:
        """The folder that the agent worked in; None where the run does not say."""
        return getattr(self.stats.reader, "project", None)

    @property
    def duplicates(self) -> int:
        """Records that were there before, by their ids, and were dropped."""
        reader = self.stats.reader
        return 0 if reader is None else reader.duplicates

    @property
    def late(self) -> int:
        """Events whose time was before that of an earlier event of their chain."""
        return self.stats.late

    @property
    def timed(self) -> bool:
        """True if events have times."""
        return self.stats.timed > 0


def _size(lines: Sequence[bytes]) -> int:
    """Bytes of lines with their ends."""
    return sum(map(len, lines)) + len(lines)


def _placed(error: TranscriptError, place: str) -> TranscriptError:
    return TranscriptError(
        error.what, source=error.source, line=error.line, path=place or None, hint=error.hint
    )
