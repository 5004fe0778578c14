"""Finds the sentences of a turn that may decide something: those that state a choice, or put one forward.

A model's sentence states one where it has a wording of choosing or ruling out; a mere "we will" where it says
over what. Left out are steps to find something out ("Let's use grep to see where it is"), questions,
and what others want. A person may order what from a model is narration: of people's sentences many weak signs
are summed up.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ebbtide.decisions.candidate import Candidate, Reason, Source
from ebbtide.decisions.turns.person_signs import PersonSigns, signs_of
from ebbtide.decisions.turns.turn_rules import (
    CHOICES,
    COMMITMENTS,
    FIRM,
    NAMED,
    NEXT_STEPS,
    NOT_OURS,
    RECOMMENDATIONS,
    RECORDS,
)
from ebbtide.decisions.turns.turn_signs import may_state_choice
from ebbtide.decisions.turns.turn_slots import ChoiceSlots, slots_of, until_clause_end
from ebbtide.text.extraction.answers import without_asking
from ebbtide.text.extraction.sentences import Sentence
from ebbtide.text.extraction.turn import ExtractedItem, ItemKind, Speaker, extract
from ebbtide.text.pattern_words import words_in
from ebbtide.text.phrases import PhraseMatch, folded

_LABELLED = frozenset(("decision.section", "decision.label", "decision.field"))
#: The rule by which a person's sentence that sounds like a choice is none.
FEW_SIGNS = "signs.few"
_SHORT = 20  # characters
_LEAD_IN = re.compile(r"^[^\S\n]*(?![-*+]\s)(\S[^\n]{0,80}):[*_]*[^\S\n]*\n", re.MULTILINE)
_LIST = re.compile(r"(?:[^\S\n]*\n)*(?:[^\S\n]*(?:[-*+]|\d{1,2}[.)])[^\S\n][^\n]*(?:\n|\Z))+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCandidate:
    """A sentence that states a choice.

    Args:
        text: What it says, without greeting or label.
        rule: The rule that found it.
        against: The rule by which it chooses nothing all the same: it only names the next step, tells what
            somebody else may do, or has few signs of a choice; None where it chooses.
        choice: What was chosen; of an approval, what it approves. None where the words do not say.
        over: What was not chosen; None likewise.
        why: The reason; None likewise.
        approves: What of the turn before it approves, where it does not say so itself; or None.
        start: Where the sentence starts in the turn.
        end: Where it ends.
    """

    text: str
    rule: str
    against: str | None = None
    choice: str | None = None
    over: str | None = None
    why: str | None = None
    approves: str | None = None
    start: int
    end: int

    @property
    def is_proposal(self) -> bool:
        """True if it only puts a choice forward."""
        return self.rule.startswith("proposal.")

    def candidate(self) -> Candidate:
        """Makes the candidate which the gate judges, and which would be recorded."""
        return Candidate(
            description=self.text if self.approves is None else f"Approved: {self.approves}",
            options=(self.choice or self.text, self.over) if self.over else (),
            reasons=(Reason(text=self.why),) if self.why else (),
            source=Source.AUTO,
        )


def candidates_of(
    turn: str, speaker: Speaker = Speaker.MODEL, before: str | None = None
) -> tuple[TurnCandidate, ...]:
    """The sentences of a turn that state a choice, or sound like it, in their order.

    Args:
        turn: What was said.
        speaker: Who said it.
        before: The turn before it, of somebody else, for what a person approves.

    >>> found = candidates_of("Let's use grep to find it. We'll use SQLite rather than a server.")
    >>> [(each.choice, each.over, each.against) for each in found]
    [('grep to find it', None, 'step.to-look'), ('SQLite', 'a server', None)]
    """
    records = _Records(turn)
    if speaker is Speaker.PERSON:
        of_person = (
            _of_person(item, records.rule_at(item.start), signs)
            for item, signs in sentences_of_person(turn, before)
        )
        return tuple(filter(None, of_person))
    candidates: dict[int, TurnCandidate] = {}

    def may_count(sentence: Sentence) -> bool:
        return records.rule_at(sentence.start) is not None or may_state_choice(sentence.text)

    for item in extract(turn, speaker=speaker, worth_reading=may_count).items:
        if item.kind is ItemKind.OPEN_QUESTION or item.start in candidates:
            continue
        candidate = _of_model(item, records.rule_at(item.start))
        if candidate is not None:
            candidates[item.start] = candidate
    return tuple(candidates.values())


def sentences_of_person(turn: str, before: str | None = None) -> Iterator[tuple[ExtractedItem, PersonSigns]]:
    """The sentences of a person's turn, in order, with the signs of each.

    Args:
        turn: What was said.
        before: The turn before it, of somebody else, for what is approved.
    """
    items: dict[int, ExtractedItem] = {}
    for item in extract(turn, speaker=Speaker.PERSON, before=before).items:
        items.setdefault(item.start, item)
    return ((item, signs_of(item, turn, alone=len(items) == 1)) for item in items.values())


def _of_person(item: ExtractedItem, listed: str | None, signs: PersonSigns) -> TurnCandidate | None:
    """A choice by its signs, its label or what it approves; a proposal; or what only sounds like a choice."""
    if item.rule == "claim.quoted":
        return None
    match, against = signs.match, None
    rule = _label(item, listed)
    if rule is None:
        rule = item.rule if item.kind is ItemKind.DECISION else None
        if match is not None:
            rule = match.rule.id
        if item.approves is None and not signs.say_choice:
            match = RECOMMENDATIONS.first(folded(item.text)) or match
            rule = match.rule.id if match is not None else rule
            if rule is None:
                return None
            against = None if rule.startswith("proposal.") else FEW_SIGNS
        elif rule is None:
            rule = f"sign.{signs.strongest}"
    return _candidate(item, rule, against, match)


def _of_model(item: ExtractedItem, listed: str | None) -> TurnCandidate | None:
    label = _label(item, listed)
    if label is not None:
        return _candidate(item, label, None, None)
    lowered = folded(item.text)
    if item.rule == "claim.quoted" or lowered.rstrip().endswith(("?", ":")):
        return None
    words = words_in(lowered)
    slots = slots_of(item.text, lowered, words)
    match = _match(lowered, words, slots)
    rule = item.rule if item.kind is ItemKind.DECISION else None
    if match is not None and not (rule and match.rule.id.startswith("proposal.")):
        rule = match.rule.id
    if rule is None:
        return None
    return _candidate(item, rule, _against(lowered, slots, match), match)


def _label(item: ExtractedItem, listed: str | None) -> str | None:
    """The rule by which its place or its label makes a sentence a decision, whatever it says."""
    return listed or (item.rule if item.rule in _LABELLED else None)


def _candidate(
    item: ExtractedItem, rule: str, against: str | None, match: PhraseMatch | None
) -> TurnCandidate:
    lowered = folded(item.text)
    slots = slots_of(item.text, lowered, words_in(lowered))
    if match is not None:
        slots = _named(item.text, match, slots)
    approves = None if item.approves is None else without_asking(item.approves)
    if approves is not None:
        slots = slots._replace(choice=approves)
    # Of a short one everything is needed, but for its label: "Great, then one worker it is."
    whole = len(item.text) < _SHORT and item.rule not in _LABELLED
    return TurnCandidate(
        text=(item.sentence if whole else item.text).strip(),
        rule=rule,
        against=against,
        choice=slots.choice,
        over=slots.over,
        why=slots.why,
        approves=approves,
        start=item.start,
        end=item.end,
    )


def _match(lowered: str, words: AbstractSet[str], slots: ChoiceSlots) -> PhraseMatch | None:
    """The wording by which a sentence states a choice, or else puts one forward; None where there is none."""
    choice = CHOICES.first(lowered, words)
    proposal = RECOMMENDATIONS.first(lowered, words)
    if choice is not None and (proposal is None or choice.start <= proposal.start):
        return choice
    if proposal is not None:
        return proposal
    return COMMITMENTS.first(lowered, words) if slots.over else None


def _named(text: str, match: PhraseMatch, slots: ChoiceSlots) -> ChoiceSlots:
    """The slots of a sentence, with what its rule says was chosen or ruled out."""
    slot, place = NAMED.get(match.rule.id.partition(".")[0], ("choice", "after"))
    if place == "whole":
        part: str | None = text.strip()
    elif place == "before":
        part = until_clause_end(text[: match.start])
    else:
        part = until_clause_end(text[match.end :])
    if slot == "over":
        return slots._replace(over=slots.over or part)
    return slots._replace(choice=part or slots.choice)


def _against(lowered: str, slots: ChoiceSlots, stated: PhraseMatch | None) -> str | None:
    """The rule by which a sentence chooses nothing; what is set against another thing is no step."""
    is_firm = bool(slots.over) or (stated is not None and stated.rule.weight >= FIRM)
    match = NOT_OURS.first(lowered)
    if match is None:
        steps = NEXT_STEPS.matches(lowered)
        match = next((step for step in steps if not is_firm or step.rule.weight >= FIRM), None)
    return None if match is None else match.rule.id


class _Records:
    """The lists of what was decided in a turn, in order and apart."""

    def __init__(self, turn: str) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._rules: list[str] = []
        if ":" not in turn:
            return
        for lead in _LEAD_IN.finditer(turn):
            record = RECORDS.first(lead[1].lower().strip("*_ "))
            items = _LIST.match(turn, lead.end()) if record else None
            if record and items:
                self._starts.append(max(items.start(), self._ends[-1] if self._ends else 0))
                self._ends.append(max(items.end(), self._starts[-1]))
                self._rules.append(record.rule.id)

    def rule_at(self, at: int) -> str | None:
        """The rule by which what stands there is in such a list; None where it is in none."""
        number = bisect_right(self._starts, at) - 1
        return self._rules[number] if number >= 0 and at < self._ends[number] else None
