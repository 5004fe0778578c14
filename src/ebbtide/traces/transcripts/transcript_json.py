"""The transcript format 0.1 as one JSON object.

Rounds with structured outputs, under the key ``rounds``.
"""

from __future__ import annotations

from typing import Any

from ebbtide.events.transcript import Round, RoundOrder, Transcript
from ebbtide.traces.input.document import Document
from ebbtide.traces.transcripts.turns import RoundUnit


def read_transcript(document: Document, *, title: str, unit: RoundUnit) -> Transcript:  # noqa: ARG001 - as all are called
    """The transcript. It numbers its own rounds, so `unit` has no say."""
    return Transcript.from_dict({"conversation_id": title, **document.head[0]})


class TranscriptRounds:
    """Reads rounds one by one; one that comes before its predecessors waits for them."""

    duplicates = 0

    def __init__(self) -> None:
        self._order = RoundOrder()
        self._number = 0

    def read(self, value: Any, path: str) -> tuple[Round, ...]:
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
