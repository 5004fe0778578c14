"""The results of filtering a conversation: its turns, the sentences that state a choice, and their fates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Self

from ebbtide.codec import Record
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict
from ebbtide.decisions.turns.turn_candidates import TurnCandidate
from ebbtide.events.event import Message, ModelCall
from ebbtide.text.extraction.turn import Speaker

#: A person who has no name.
PERSON = "user"


class Disposition(StrEnum):
    """The disposition of a candidate."""

    KEPT = "kept"
    REFUSED = "refused"  #: by the gate
    DUPLICATE = "duplicate"  #: of an earlier turn
    PROPOSED = "proposed"  #: put forward, and neither accepted nor carried out so far


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenTurn:
    """A turn of a conversation.

    Args:
        number: Of the turn, from 1.
        speaker: The name or role of the speaker.
        text: The words.
        ts: When, in seconds since the epoch; None where that is not known.
        role: Whose words they are: a person may order what from a model is narration.
    """

    number: int
    speaker: str
    text: str
    ts: float | None = None
    role: Speaker = Speaker.MODEL

    @classmethod
    def of(cls, event: Message | ModelCall, number: int) -> Self:
        """Returns the turn that an event is."""
        is_person = isinstance(event, Message)
        return cls(
            number=number,
            speaker=event.agent or (PERSON if is_person else "assistant"),
            text=event.text or "",
            ts=event.ts,
            role=Speaker.PERSON if is_person else Speaker.MODEL,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteredCandidate(Record):
    """A sentence that states a choice, and what becomes of it.

    Args:
        id: ``turn-12-1``: turn 12, its first candidate.
        turn: The turn it stands in.
        sentence: Its words, and the rule by which it may state a choice.
        disposition: What becomes of it.
        assessment: What the gate says.
        duplicate: What it is to the sentences kept before it; None where it was not compared with them: the
            gate refuses it, or it is only put forward.
        accepted: Number of the turn that accepts what was put forward; None where none does.
        carried_out: Number of the event that carries it out; None where none is known to.
    """

    _WIRE: ClassVar = """
        id turn=turn.number speaker=turn.speaker ts=turn.ts text=sentence.text
        chosen=sentence.choice over=sentence.over why=sentence.why accepted carried_out
        found_by=sentence.rule start=sentence.start end=sentence.end fate=disposition
        reason=assessment.reason rule=_rule reverses assessment duplicate
    """

    id: str
    turn: SpokenTurn
    sentence: TurnCandidate
    disposition: Disposition
    assessment: Assessment
    duplicate: DuplicateVerdict | None = None
    accepted: int | None = None
    carried_out: int | None = None

    @property
    def _rule(self) -> str | None:
        return None if self.assessment.primary is None else self.assessment.primary.id

    @property
    def reverses(self) -> str | None:
        """The id of an earlier sentence that it reverses, by its words: does it supersede that one?

        Another word in the place of one ("step a", "step b") is no reversal.
        """
        verdict = self.duplicate
        return verdict.of if verdict is not None and verdict.contradicts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteredTurns(Record):
    """The candidates of a conversation, with their dispositions.

    Args:
        turns: How many turns were searched for decisions.
        candidates: The sentences that state a choice, in order.
        profile: Name of the profile.
        cut: Turns of more than 20,000 characters, of which only these were read.
        left_out: Sentences that state a choice and were not judged, since 32 of their turn stand before them.
        heard: Further turns, which only accept what stands before them.
    """

    _SCHEMA: ClassVar = 1
    _WIRE: ClassVar = "turns heard profile counts reversals cut left_out candidates"

    turns: int
    candidates: tuple[FilteredCandidate, ...]
    profile: str
    cut: int = 0
    left_out: int = 0
    heard: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Number of candidates by disposition."""
        counts = Counter(each.disposition for each in self.candidates)
        return {disposition.value: counts[disposition] for disposition in Disposition}

    @property
    def reversals(self) -> int:
        """Number of candidates that reverse an earlier one."""
        return sum(each.reverses is not None for each in self.candidates)

    def having(self, disposition: Disposition) -> tuple[FilteredCandidate, ...]:
        """The candidates with one disposition, in order."""
        return tuple(each for each in self.candidates if each.disposition is disposition)


def turn_of(name: str) -> int:
    """The number of the turn that a candidate stands in.

    >>> turn_of("turn-12-1")
    12
    """
    return int(name.split("-")[1])
