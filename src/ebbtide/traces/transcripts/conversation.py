"""A conversation out of the events of a run: what models and users said, as rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbtide.events.transcript import Round
from ebbtide.traces.formats import Event, EventReader
from ebbtide.traces.transcripts.turns import RoundUnit, Turn, TurnRounds

_SPEAKERS = {"llm": "assistant", "user": "user"}


class Conversation:
    """Makes rounds of events, as they come. Rounds among the events are given on as they are.

    A turn is a whole message of a model or a user, with text. The speaker is the agent, or else "assistant"
    or "user".

    Args:
        unit: What a round is.
    """

    def __init__(self, unit: RoundUnit) -> None:
        self._turns = TurnRounds(unit)
        self._given = False

    def add(self, event: Event) -> tuple[Round, ...]:
        """The rounds that this event completes."""
        if isinstance(event, Round):
            self._given = True
            return (event,)
        speaker = _SPEAKERS.get(event.kind)
        if speaker is None or not event.text or event.name not in ("message", "generate"):
            return ()
        return self._turns.add(Turn(speaker=event.agent or speaker, text=event.text))

    def finish(self) -> tuple[Round, ...]:
        """The circle that was still open.

        Raises:
            TranscriptError: There was no turn at all.
        """
        return () if self._given else self._turns.finish()


class EventLines:
    """Reads the conversation in the events of a run, line by line.

    Args:
        reader: Reads the events.
        unit: What a round is.
    """

    def __init__(self, reader: EventReader, unit: RoundUnit) -> None:
        self._reader = reader
        self._conversation = Conversation(unit)

    def read(self, value: Any) -> tuple[Round, ...]:
        """The rounds that this line completes.

        Raises:
            TranscriptError: The line is broken.
        """
        return self._rounds(self._reader.read(value, ""))

    def finish(self) -> tuple[Round, ...]:
        """The rounds that were still open.

        Raises:
            TranscriptError: There was no turn at all.
        """
        return (*self._rounds(self._reader.finish()), *self._conversation.finish())

    def _rounds(self, events: Sequence[Event]) -> tuple[Round, ...]:
        return tuple(item for event in events for item in self._conversation.add(event))
