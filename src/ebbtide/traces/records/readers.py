"""Readers of a trace: record by record into events, or line by line into the rounds of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.events.transcript import Round
from ebbtide.traces.input.document import Document

TraceItem = Event | Round  #: what a trace holds


class EventReader(Protocol):
    """Reads the events of one run, record by record, in bounded memory."""

    @property
    def duplicates(self) -> int:
        """Records that were there before, and were dropped."""

    def read(self, value: Any, path: str) -> Sequence[TraceItem]:
        """The events, or rounds, that this record completes, in the order of the run.

        A record of a kind that is not known gives nothing; so does one without the fields that it needs, as
        long as nothing is lost by that.

        Args:
            value: A record: a line of JSON lines, or what stands at one of the format's `paths`.
            path: Which of the `paths` it stands at; empty for a line.

        Raises:
            TranscriptError: The record is broken. The reader goes on as if it had not been there.
        """

    def finish(self) -> Sequence[TraceItem]:
        """The events that were still open when the records ended.

        Raises:
            TranscriptError: A run cannot end here.
        """


@runtime_checkable
class SettlingReader(Protocol):
    """Reads records of calls that may still grow when the input is at rest."""

    def settle(self) -> Sequence[TraceItem]:
        """The calls that are open, as far as they are known; what comes later is given as their growth.

        Nothing is ended by it: the same records with and without it have the same usage and as many calls.
        """


class LineReader(Protocol):
    """Reads a conversation a line at a time."""

    def read(self, value: Any) -> tuple[Round, ...]:
        """The rounds that this line completes, in the order of their numbers.

        Args:
            value: The JSON value of one line.

        Raises:
            TranscriptError: The line is broken. The reader goes on as if it had not been there.
        """

    def finish(self) -> tuple[Round, ...]:
        """The rounds that were still open when the lines ended.

        Raises:
            TranscriptError: A conversation cannot end here.
        """


def read_lines(document: Document, reader: LineReader) -> tuple[Round, ...]:
    """All rounds of a document, by a reader of its lines.

    Raises:
        TranscriptError: A line is broken, with its number, or the conversation cannot end where it does.
    """
    rounds: list[Round] = []
    for line, value in document.lines():
        try:
            rounds += reader.read(value)
        except TranscriptError as error:
            raise error.located(line=line) from None
    rounds += reader.finish()
    return tuple(rounds)
