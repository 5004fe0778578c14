"""The transcript format 0.1 as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping

from ebbtide.convergence.transcript import Transcript
from ebbtide.traces.document import Content, Document
from ebbtide.traces.turns import RoundUnit


class TranscriptJson:
    """Rounds with structured outputs, under the key ``rounds``."""

    name = "transcript"
    description = "a JSON object with the list 'rounds', each round with its claims (transcript format 0.1)"

    def refusal(self, document: Document) -> str | None:
        """Why `document` is not one; None if it is."""
        if document.content is not Content.JSON:
            return "not one JSON value"
        value = document.head[0]
        return None if isinstance(value, Mapping) and "rounds" in value else "no object with 'rounds'"

    def read_transcript(self, document: Document, *, title: str, unit: RoundUnit) -> Transcript:
        """The transcript. It numbers its own rounds, so `unit` has no say."""
        return Transcript.from_dict({"conversation_id": title, **document.head[0]})
