"""A conversation through the gate, turn by turn: what it would have kept, what not, and why."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from ebbtide.decisions.assessment import Assessment, Layer, RuleFired
from ebbtide.decisions.candidate import Candidate, Source
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.repeats.duplicate_assessment import duplicate_assessment
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict
from ebbtide.decisions.repeats.duplicates import Earlier, find_duplicate
from ebbtide.decisions.turns.turn_candidates import TurnCandidate, candidates_of
from ebbtide.decisions.turns.turn_signs import may_state_choice
from ebbtide.profile import Profile

_COMPARED = 256  # kept sentences that a new one is compared with
_REMEMBERED = 4_096  # turns whose candidates are remembered
_SHORT = 500  # characters of a turn that is remembered
_LONGEST = 20_000  # characters of a turn that are read; what stands behind them is data
_MOST = 32  # sentences of a turn that are judged: of 12,259 real turns none states more than 6 choices


class Disposition(StrEnum):
    """What becomes of a candidate."""

    KEPT = "kept"
    REFUSED = "refused"  #: by the gate
    DUPLICATE = "duplicate"  #: of an earlier turn


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenTurn:
    """What somebody said.

    Args:
        number: Of the turn, from 1.
        speaker: Who.
        text: What.
        ts: When, in seconds since the epoch; None where that is not known.
    """

    number: int
    speaker: str
    text: str
    ts: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteredCandidate:
    """A sentence that states a choice, and what becomes of it.

    Args:
        id: ``turn-12-1``: turn 12, its first candidate.
        turn: The turn it stands in.
        sentence: Its words, and the rule by which it may state a choice.
        disposition: What becomes of it.
        assessment: What the gate says.
        duplicate: What it is to the sentences kept before it; None where the gate refuses it.
    """

    id: str
    turn: SpokenTurn
    sentence: TurnCandidate
    disposition: Disposition
    assessment: Assessment
    duplicate: DuplicateVerdict | None = None

    @property
    def reverses(self) -> str | None:
        """The id of an earlier sentence that it reverses, by its words: does it supersede that one?

        Another word in the place of one ("step a", "step b") is no reversal.
        """
        verdict = self.duplicate
        return verdict.of if verdict is not None and verdict.contradicts else None

    def candidate(self) -> Candidate:
        """What would be recorded."""
        return _candidate(self.sentence)

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "id": self.id,
            "turn": self.turn.number,
            "speaker": self.turn.speaker,
            "ts": self.turn.ts,
            "text": self.sentence.text,
            "found_by": self.sentence.rule,
            "start": self.sentence.start,
            "end": self.sentence.end,
            "fate": self.disposition.value,
            "reason": self.assessment.reason,
            "rule": None if self.assessment.primary is None else self.assessment.primary.id,
            "reverses": self.reverses,
            "assessment": self.assessment.to_dict(),
            "duplicate": None if self.duplicate is None else self.duplicate.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteredTurns:
    """What a conversation gave.

    Args:
        turns: How many turns were read.
        candidates: The sentences that state a choice, in order.
        profile: Name of the profile.
        cut: Turns of more than 20,000 characters, of which only these were read.
        left_out: Sentences that state a choice and were not judged, since 32 of their turn stand before them.
    """

    turns: int
    candidates: tuple[FilteredCandidate, ...]
    profile: str
    cut: int = 0
    left_out: int = 0

    def having(self, disposition: Disposition) -> tuple[FilteredCandidate, ...]:
        """The candidates with one disposition, in order."""
        return tuple(each for each in self.candidates if each.disposition is disposition)

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        counts = Counter(each.disposition for each in self.candidates)
        return {
            "schema": 1,
            "turns": self.turns,
            "profile": self.profile,
            "counts": {disposition.value: counts[disposition] for disposition in Disposition},
            "reversals": sum(each.reverses is not None for each in self.candidates),
            "cut": self.cut,
            "left_out": self.left_out,
            "candidates": [each.to_dict() for each in self.candidates],
        }


_Candidates = tuple[tuple[TurnCandidate, Assessment], ...]


class TurnFilter:
    """Takes the turns of a conversation one by one.

    A sentence is judged by its own words: beside "Let me run it" in the same turn, a decision stays one. It
    is compared with the 256 latest that were kept before it: those in the window of the profile where its
    turn has a time, else all of them. Of a turn the first 20,000 characters are read, and the first 32
    sentences that state a choice are judged. Memory is bounded.

    Args:
        profile: What the gate goes by.

    Attributes:
        turns: Turns that were taken.
        cut: Those that were longer than what is read.
        left_out: Sentences that were not judged.
    """

    def __init__(self, profile: Profile = Profile.DEFAULT) -> None:
        self.turns = 0
        self.cut = 0
        self.left_out = 0
        self._profile = profile
        self._rules = profile.duplicates
        self._untimed = replace(self._rules, window_s=None)
        self._earlier: deque[Earlier] = deque(maxlen=_COMPARED)
        self._by_text: dict[str, _Candidates] = {}
        self._latest: tuple[int, int] = (0, 0)  # number of the latest turn, and how many candidates it had

    def take(self, turn: SpokenTurn) -> tuple[FilteredCandidate, ...]:
        """Take one more turn; what it states of choices, in order, and what becomes of each."""
        self.turns += 1
        number, count = self._latest
        if number != turn.number:
            count = 0
        filtered = []
        for sentence, assessment in self._candidates(turn.text):
            count += 1
            filtered.append(self._judged(f"turn-{turn.number}-{count}", turn, sentence, assessment))
        self._latest = turn.number, count
        return tuple(filtered)

    def _candidates(self, text: str) -> _Candidates:
        """The candidates of a turn, with what the gate says of each; turns that come again are read once."""
        candidates = self._by_text.get(text)
        if candidates is None:
            head = text[:_LONGEST]
            self.cut += len(head) < len(text)
            sentences = candidates_of(head) if may_state_choice(head) else ()
            self.left_out += max(len(sentences) - _MOST, 0)
            candidates = tuple((each, _assessed(each, self._profile)) for each in sentences[:_MOST])
            if len(text) <= _SHORT:
                if len(self._by_text) >= _REMEMBERED:
                    self._by_text.clear()
                self._by_text[text] = candidates
        return candidates

    def _judged(
        self, name: str, turn: SpokenTurn, sentence: TurnCandidate, assessment: Assessment
    ) -> FilteredCandidate:
        if not assessment.keep:
            return FilteredCandidate(
                id=name, turn=turn, sentence=sentence, disposition=Disposition.REFUSED, assessment=assessment
            )
        at = float(self.turns) if turn.ts is None else turn.ts
        rules = self._untimed if turn.ts is None else self._rules
        verdict = find_duplicate(sentence.text, tuple(self._earlier), rules, ts=at)
        disposition = Disposition.KEPT
        if verdict.is_duplicate:
            disposition, assessment = (
                Disposition.DUPLICATE,
                duplicate_assessment(verdict, assessment, self._profile),
            )
        else:
            self._earlier.append(Earlier(id=name, text=sentence.text, ts=at))
        return FilteredCandidate(
            id=name,
            turn=turn,
            sentence=sentence,
            disposition=disposition,
            assessment=assessment,
            duplicate=verdict,
        )


def filter_turns(turns: Iterable[SpokenTurn], profile: Profile = Profile.DEFAULT) -> FilteredTurns:
    """Take a whole conversation through a `TurnFilter`.

    Args:
        turns: What was said, in order; leave out whose decisions are not asked for.
        profile: What the gate goes by.
    """
    turn_filter = TurnFilter(profile)
    filtered = [each for turn in turns for each in turn_filter.take(turn)]
    return FilteredTurns(
        turns=turn_filter.turns,
        candidates=tuple(filtered),
        profile=profile.name,
        cut=turn_filter.cut,
        left_out=turn_filter.left_out,
    )


def turn_of(name: str) -> int:
    """The number of the turn that a candidate stands in.

    >>> turn_of("turn-12-1")
    12
    """
    return int(name.split("-")[1])


def _assessed(sentence: TurnCandidate, profile: Profile) -> Assessment:
    assessment = assess(_candidate(sentence), profile=profile)
    if sentence.against is None:
        return assessment
    next_step = sentence.against.startswith("step.")
    reason = (
        "It names the next step and chooses nothing" if next_step else "It offers, advises or tells of others"
    )
    rule = RuleFired(id=sentence.against, layer=Layer.INFORMATIONAL, reason=reason, decides=True)
    return replace(assessment, keep=False, primary=rule, rules=(rule, *assessment.rules))


def _candidate(sentence: TurnCandidate) -> Candidate:
    return Candidate(description=sentence.text, source=Source.AUTO)
