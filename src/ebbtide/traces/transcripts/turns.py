"""Turns in, rounds out: a round is a turn, or a full circle of the speakers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round
from ebbtide.text.extraction.answers import still_open


class RoundUnit(StrEnum):
    """Unit that counts as one round of a conversation that does not say so itself."""

    TURN = "turn"  #: each turn
    CIRCLE = "circle"  #: turns up to the one whose speaker has already spoken in the round


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Words of one speaker in one go."""

    speaker: str
    text: str


class TurnRounds:
    """Makes numbered rounds of turns, as they come.

    Args:
        unit: What a round is.
    """

    def __init__(self, unit: RoundUnit) -> None:
        self._unit = unit
        self._made = 0
        self._circle: dict[str, Turn] = {}
        self._before: str | None = None  # the text of the latest turn of a round

    def add(self, turn: Turn) -> tuple[Round, ...]:
        """The round that this turn completes, if it does: itself, or the circle before it."""
        if not turn.text.strip():
            return ()
        if self._unit is RoundUnit.TURN:
            return self._round(turn)
        rounds = self._close() if turn.speaker in self._circle else ()
        self._circle[turn.speaker] = turn
        return rounds

    def finish(self) -> tuple[Round, ...]:
        """The circle that was still open.

        Raises:
            TranscriptError: There was no turn at all.
        """
        rounds = self._close()
        if not self._made:
            raise TranscriptError("there are no turns with text", hint="A conversation has at least one.")
        return rounds

    def _close(self) -> tuple[Round, ...]:
        rounds = self._round(*self._circle.values()) if self._circle else ()
        self._circle.clear()
        return rounds

    def _round(self, *turns: Turn) -> tuple[Round]:
        self._made += 1
        # Each turn is read on its own: an open code block in one must not swallow the next.
        parts = []
        for turn in turns:
            parts.append(
                Round.from_text(turn.text, number=self._made, agent=turn.speaker, before=self._before)
            )
            self._before = turn.text
        return (parts[0] if len(parts) == 1 else _joined(parts),)


def _joined(parts: list[Round]) -> Round:
    return Round(
        number=parts[0].number,
        claims=tuple(text for part in parts for text in part.claims),
        decisions=tuple(text for part in parts for text in part.decisions),
        open_questions=tuple(
            text for number, part in enumerate(parts) for text in _open(part, parts[number + 1 :])
        ),
        next_actions=tuple(text for part in parts for text in part.next_actions),
        text="\n\n".join(part.text for part in parts if part.text),
        extra={
            "agents": [part.agent for part in parts],
            "turns": [{"agent": part.agent, "text": part.text} for part in parts],
        },
    )


def _open(part: Round, later: list[Round]) -> tuple[str, ...]:
    """The questions of a turn that no later turn of the round answers."""
    if not part.open_questions or not later:
        return part.open_questions
    turns = [
        (each.text or "", [claim for claim in each.claims if claim not in each.open_questions])
        for each in later
    ]
    return still_open(part.open_questions, turns)
