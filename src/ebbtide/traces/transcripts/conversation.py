"""A conversation out of the events of a run: what models and users said, as rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbtide.events.event import Message, ModelCall, ModelPart, Role
from ebbtide.events.transcript import Round
from ebbtide.traces.input.json_value import too_deep
from ebbtide.traces.records.readers import EventReader, TraceItem
from ebbtide.traces.transcripts.turns import RoundUnit, Turn, TurnRounds


class Conversation:
    """Makes rounds of events, as they come. Rounds among the events are given on as they are.

    A turn is a whole message of a model or a user, with text. The speaker is the agent, or else "assistant"
    or "user".

    Args:
        unit: What a round is.
    """

    def __init__(self, unit: RoundUnit) -> None:
        self._turns = TurnRounds(unit)
        self._has_rounds = False

    def add(self, event: TraceItem) -> tuple[Round, ...]:
        """The rounds that this event completes."""
        if isinstance(event, Round):
            self._has_rounds = True
            return (event,)
        if not isinstance(event, ModelCall | Message) or not event.text:
            return ()
        if isinstance(event, Message):
            return self._turn(event, "user") if event.role is Role.USER else ()
        # The text of a call that failed is the failure.
        return self._turn(event, "assistant") if event.part is ModelPart.WHOLE and not event.error else ()

    def finish(self) -> tuple[Round, ...]:
        """The circle that was still open.

        Raises:
            TranscriptError: There was no turn at all.
        """
        return () if self._has_rounds else self._turns.finish()

    def _turn(self, event: ModelCall | Message, speaker: str) -> tuple[Round, ...]:
        return self._turns.add(Turn(speaker=event.agent or speaker, text=event.text or ""))


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
        try:
            return self._rounds(self._reader.read(value, ""))
        except RecursionError:
            raise too_deep() from None

    def finish(self) -> tuple[Round, ...]:
        """The rounds that were still open.

        Raises:
            TranscriptError: There was no turn at all.
        """
        return (*self._rounds(self._reader.finish()), *self._conversation.finish())

    def _rounds(self, events: Sequence[TraceItem]) -> tuple[Round, ...]:
        return tuple(item for event in events for item in self._conversation.add(event))
