"""The transcript format 0.1 as JSON lines: a header, then a round a line.

Lines of the types ``transcript_header`` and ``round``.

The header may be missing. Lines of other types are passed over: a log may carry more than a
conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round, RoundOrder, Transcript
from ebbtide.traces.input.document import Document, shape
from ebbtide.traces.records.readers import read_lines
from ebbtide.traces.transcripts.turns import RoundUnit

_HEADER, _ROUND = "transcript_header", "round"


def is_round_line(value: Any) -> bool:
    """True if a line is a header or a round."""
    return isinstance(value, Mapping) and value.get("type") in (_HEADER, _ROUND)


def read_transcript(document: Document, *, title: str, unit: RoundUnit) -> Transcript:  # noqa: ARG001 - as all are called
    """The transcript that the lines make. Rounds number themselves, so `unit` has no say."""
    reader = TranscriptLines()
    rounds = read_lines(document, reader)
    header = Transcript.from_header({"conversation_id": title, **(reader.header or {})})
    return replace(header, rounds=rounds)


class TranscriptRounds:
    """Reads rounds one by one; one that comes before its predecessors waits for them."""

    duplicates = 0

    def __init__(self) -> None:
        self._order = RoundOrder()
        self._number = 0

    def read(self, value: Any, path: str = "") -> tuple[Round, ...]:
        """The rounds whose turn it is after this one.

        Raises:
            TranscriptError: It has another shape, its number is there twice, or the version is not known.
        """
        if path == "version":
            Transcript.from_header({"version": value})
            return ()
        place = f"rounds[{self._number}]"
        self._number += 1
        return self._order.add(Round.from_dict(value, place), place)

    def finish(self) -> tuple[Round, ...]:
        """Nothing: no round stays open.

        Raises:
            TranscriptError: There was no round, or one is missing.
        """
        self._order.finish()
        return ()


class TranscriptLines(TranscriptRounds):
    """Reads the lines; a round that comes before its predecessors waits for them.

    Args:
        unit: Has no say: rounds number themselves.

    Attributes:
        header: What the header line says; None while there was none.
    """

    def __init__(self, unit: RoundUnit = RoundUnit.TURN) -> None:
        super().__init__()
        self.header: Mapping[str, Any] | None = None

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


def read_json_transcript(document: Document, *, title: str, unit: RoundUnit) -> Transcript:  # noqa: ARG001 - as all are called
    """The transcript. It numbers its own rounds, so `unit` has no say."""
    return Transcript.from_dict({"conversation_id": title, **document.head[0]})
