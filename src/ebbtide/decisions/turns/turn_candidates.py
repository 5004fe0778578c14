"""What an agent's turn may have decided: the sentences that state a choice.

Not every sentence that passes the gate is one that somebody would want to find again. The gate refuses what
is surely noise; here it is asked what states a choice at all. Left out are steps to find something out
("Let's use grep to see where it is"), plans and orders, offers and questions, and what others do or want.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ebbtide.decisions.assessment import RuleFired
from ebbtide.decisions.gate.evidence import evidence_in, total
from ebbtide.decisions.gate.wording import Wording
from ebbtide.decisions.turns.turn_rules import NEXT_STEPS, NOT_OURS, OURS, PROPOSALS, RECORD_WORDS, RECORDS
from ebbtide.decisions.turns.turn_signs import may_state_choice
from ebbtide.text.extraction.sentences import Sentence
from ebbtide.text.extraction.turn import ExtractedItem, ItemKind, extract
from ebbtide.text.pattern_words import words_in

_STATED = 1.5  # choice less noise from which a sentence without a word of deciding states one
#: Evidence that somebody chooses; the rest ("must", "always", "because") is found in rules and facts too.
_CHOOSING = frozenset(
    (
        "choice.decided",
        "choice.the-decision",
        "choice.picked",
        "choice.i-will",
        "choice.going-with",
        "choice.instead",
        "choice.over",
        "choice.kept",
    )
)
_MAY_CHOOSE = frozenset(("action.obligation", "action.commitment"))
_LABELLED = frozenset(("decision.section", "decision.label", "decision.field"))
_SHORT = 20  # characters
_LEAD_IN = re.compile(r"^[^\S\n]*(?![-*+]\s)(\S[^\n]{0,80}):[*_]*[^\S\n]*\n", re.MULTILINE)
_LIST = re.compile(r"(?:[^\S\n]*\n)*(?:[^\S\n]*(?:[-*+]|\d{1,2}[.)])[^\S\n]+[^\n]*(?:\n|\Z))+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCandidate:
    """A sentence that states a choice.

    Args:
        text: What it says, without greeting or label.
        rule: The rule that found it.
        against: The rule by which it chooses nothing all the same: it only names the next step, or tells what
            somebody else may do; None where it chooses.
        start: Where the sentence starts in the turn.
        end: Where it ends.
    """

    text: str
    rule: str
    against: str | None = None
    start: int
    end: int


def candidates_of(turn: str) -> tuple[TurnCandidate, ...]:
    """The sentences of a turn that state a choice, or sound like it, in their order.

    Args:
        turn: What an agent said.

    >>> found = candidates_of("Let's use grep to find it. We'll use SQLite, it needs no server.")
    >>> [(each.text, each.against) for each in found]
    [("Let's use grep to find it.", 'step.to-look'), ("We'll use SQLite, it needs no server.", None)]
    """
    candidates: dict[int, TurnCandidate] = {}
    records = _Records(turn)

    def may_count(sentence: Sentence) -> bool:
        return records.rule_at(sentence.start) is not None or may_state_choice(sentence.text)

    for item in extract(turn, worth_reading=may_count).items:
        if item.kind is ItemKind.OPEN_QUESTION or item.start in candidates:
            continue
        listed = records.rule_at(item.start)
        rule = listed or _rule(item)
        if rule is not None:
            # Of a short one everything is needed, but for its label: "Great, then one worker it is."
            whole = len(item.text) < _SHORT and rule not in _LABELLED
            text = (item.sentence if whole else item.text).strip()
            candidates[item.start] = TurnCandidate(
                text=text,
                rule=rule,
                against=None if listed or rule in _LABELLED else _against(item),
                start=item.start,
                end=item.end,
            )
    return tuple(candidates.values())


class _Records:
    """The lists of what was decided in a turn, in order and apart."""

    def __init__(self, turn: str) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._rules: list[str] = []
        if turn.isascii() and not any(word in turn.lower() for word in RECORD_WORDS):
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


def _rule(item: ExtractedItem) -> str | None:
    """By which rule a sentence states a choice; None where it states none."""
    text = _plain(item)
    if text.rstrip().endswith(("?", ":")):
        return None
    if item.kind is ItemKind.DECISION:
        return item.rule
    if item.rule.startswith("action.") and item.rule not in _MAY_CHOOSE:
        return None
    words = words_in(text)
    proposal = PROPOSALS.first(text, words)
    ours = OURS.first(text, words) is not None
    if proposal is None and not ours:
        return None
    noise, evidence = evidence_in(Wording.of(item.text))
    choice = total(evidence)
    if proposal is None and choice < _STATED:
        return None
    strength = choice - total(noise)
    if proposal is not None and strength > -1:
        return proposal.rule.id
    return _strongest(evidence) if ours and strength >= _STATED else None


def _against(item: ExtractedItem) -> str | None:
    text = _plain(item)
    match = NEXT_STEPS.first(text) or NOT_OURS.first(text)
    return None if match is None else match.rule.id


def _plain(item: ExtractedItem) -> str:
    return item.text.lower().replace("\u2019", "'")


def _strongest(evidence: Sequence[RuleFired]) -> str | None:
    choosing = [rule for rule in evidence if rule.id in _CHOOSING]
    return min(choosing, key=lambda rule: rule.weight).id if choosing else None
