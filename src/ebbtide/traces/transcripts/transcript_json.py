"""The transcript format 0.1 as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.events.transcript import Round, RoundOrder, Transcript
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.transcripts.turns import RoundUnit


class TranscriptJson:
    """Rounds with structured outputs, under the key ``rounds``."""

    name = "transcript"
    description = "a JSON object with the list 'rounds', each round with its claims (transcript format 0.1)"
    paths = ("version", "rounds.item")

    def refusal(self, document: Document) -> str | None:
        """Why `document` is not one; None if it is."""
        if document.content is not Content.JSON:
            return "not one JSON value"
        value = document.head[0]
        return None if isinstance(value, Mapping) and "rounds" in value else "no object with 'rounds'"

    def event_reader(self) -> TranscriptRounds:
        """A reader before the first round."""
        return TranscriptRounds()

    def read_transcript(self, document: Document, *, title: str, unit: RoundUnit) -> Transcript:
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
