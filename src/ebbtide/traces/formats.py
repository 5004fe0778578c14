"""What a format is, to the registry and to whoever adds one.

A format tells by content whether a document is its own. What can be read out of it is said by the protocols
below: the events of a run, a conversation, and a conversation that can be read while it is being written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.events.transcript import Round, Transcript
from ebbtide.traces.input.document import Document
from ebbtide.traces.transcripts.turns import RoundUnit

TraceItem = Event | Round  #: what a trace holds


class Format(Protocol):
    """A way to write down what agents did."""

    @property
    def name(self) -> str:
        """Short and stable, as used in messages."""

    @property
    def description(self) -> str:
        """What such a file holds, in one sentence."""

    def refusal(self, document: Document) -> str | None:
        """Why `document` is not of this format; None if it is.

        Of a large document only the head is there: the first records, or one JSON value as far as its first
        megabyte goes.
        """


@runtime_checkable
class ConversationFormat(Format, Protocol):
    """A format that holds a conversation."""

    def read_transcript(self, document: Document, *, title: str, unit: RoundUnit) -> Transcript:
        """The conversation in a document that was not refused.

        Args:
            document: The whole input.
            title: Name of the conversation, if the document has none.
            unit: What a round is, if the document does not say so itself.

        Raises:
            TranscriptError: It is of this format, but broken.
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


@runtime_checkable
class LineFormat(ConversationFormat, Protocol):
    """A format whose conversation can be read while it is being written."""

    def knows(self, value: Any) -> bool:
        """Whether a line with this value belongs to this format."""

    def line_reader(self, unit: RoundUnit) -> LineReader:
        """A reader before the first line of a conversation."""


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
class EventFormat(Format, Protocol):
    """A format that holds the events of a run."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the records stand in a document that is one JSON value.

        Names are joined by dots, and ``item`` is each element of a list: ``trajectory.item``, ``info``,
        ``item`` for a list of records, the empty text for the whole value where nothing else is there.
        Records come in the order of the document, each at the first of the paths that leads to it; a path
        does not lead into what another one gives as a whole.
        """

    def event_reader(self) -> EventReader:
        """A reader before the first record."""


@runtime_checkable
class ArchiveFormat(EventFormat, Protocol):
    """A format that is a zip file with many JSON documents."""

    def members(self, names: Sequence[str]) -> Sequence[str]:
        """Which of the files in the archive to read, in the order of the run."""


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
