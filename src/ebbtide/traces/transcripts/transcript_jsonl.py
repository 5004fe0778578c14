"""The transcript format 0.1 as JSON lines: a header, then a round a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round, RoundOrder, Transcript
from ebbtide.traces.formats import read_lines
from ebbtide.traces.input.document import HEAD, Content, Document, shape
from ebbtide.traces.transcripts.turns import RoundUnit

_HEADER, _ROUND = "transcript_header", "round"


class TranscriptJsonl:
    """Lines of the types ``transcript_header`` and ``round``.

    The header may be missing. Lines of other types are passed over: a log may carry more than a
    conversation.
    """

    name = "transcript-jsonl"
    description = "JSON lines: one of type 'transcript_header', then one of type 'round' for each round"
    paths = ("",)

    def refusal(self, document: Document) -> str | None:
        """Why `document` is not one; None if it is."""
        if document.content is Content.TEXT:
            return "not JSON lines"
        if any(map(self.knows, document.head)):
            return None
        return f"no '{_HEADER}' or '{_ROUND}' among the types of the first {HEAD} lines"

    def knows(self, value: Any) -> bool:
        """Whether the line is a header or a round."""
        return isinstance(value, Mapping) and value.get("type") in (_HEADER, _ROUND)

    def line_reader(self, unit: RoundUnit) -> TranscriptLines:
        """A reader before the first line. Rounds number themselves, so `unit` has no say."""
        return TranscriptLines()

    def event_reader(self) -> TranscriptLines:
        """A reader before the first line."""
        return TranscriptLines()

    def read_transcript(self, document: Document, *, title: str, unit: RoundUnit) -> Transcript:
        """The transcript that the lines make."""
        reader = self.line_reader(unit)
        rounds = read_lines(document, reader)
        header = Transcript.from_header({"conversation_id": title, **(reader.header or {})})
        return replace(header, rounds=rounds)


class TranscriptLines:
    """Reads the lines; a round that comes before its predecessors waits for them.

    Attributes:
        header: What the header line says; None while there was none.
    """

    duplicates = 0

    def __init__(self) -> None:
        self.header: Mapping[str, Any] | None = None
        self._order = RoundOrder()

    def read(self, value: Any, path: str = "") -> tuple[Round, ...]:
        """The rounds whose turn it is after this line.

        Raises:
            TranscriptError: The line has another shape, a round number is there twice, or a second header.
        """
        if not isinstance(value, Mapping):
            raise TranscriptError(f"expected an object, found {shape(value)}")
        wire = {key: item for key, item in value.items() if key != "type"}
        if value.get("type") == _ROUND:
            return self._order.add(Round.from_dict(wire))
        if value.get("type") == _HEADER:
            if self.header is not None:
                raise TranscriptError(
                    "a second transcript_header", hint="Write each conversation to a file of its own."
                )
            Transcript.from_header(wire)
            self.header = wire
        return ()

    def finish(self) -> tuple[Round, ...]:
        """Nothing: no round stays open.

        Raises:
            TranscriptError: There was no round, or one is missing.
        """
        self._order.finish()
        return ()
