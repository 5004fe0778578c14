"""What a format is, to the registry and to whoever adds one.

A format tells by content whether a document is its own. What can be read out of it is said by the protocols
below: a conversation, and a conversation that can be read while it is being written.
"""

from __future__ import annotations

from typing import Any, Protocol

from ebbtide.convergence.transcript import Round, Transcript
from ebbtide.errors import TranscriptError
from ebbtide.traces.document import Document
from ebbtide.traces.turns import RoundUnit


class Format(Protocol):
    """A way to write down what agents did."""

    @property
    def name(self) -> str:
        """Short and stable, as used in messages."""

    @property
    def description(self) -> str:
        """What such a file holds, in one sentence."""

    def refusal(self, document: Document) -> str | None:
        """Why `document` is not of this format; None if it is."""


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


class LineFormat(ConversationFormat, Protocol):
    """A format whose conversation can be read while it is being written."""

    def knows(self, value: Any) -> bool:
        """Whether a line with this value belongs to this format."""

    def line_reader(self, unit: RoundUnit) -> LineReader:
        """A reader before the first line of a conversation."""


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
