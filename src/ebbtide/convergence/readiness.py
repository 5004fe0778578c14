"""Readiness of the latest round: its distance from something that can be executed.

Readiness says that there is something to do, that questions are settled and that nothing blocks it. It says
nothing about whether doing it is right.

Source: novelty spec, section 3 (clauses R01 to R08).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ebbtide.convergence.readiness_rules import (
    ARTIFACTS,
    BLOCKERS,
    NEGATED_BLOCKERS,
    OWNERSHIP,
    SPEC_VERBS,
    VAGUE,
)
from ebbtide.events.transcript import Round
from ebbtide.profile.convergence import ReadinessRules
from ebbtide.text.imperatives import IMPERATIVE_VERBS
from ebbtide.text.pattern_words import words_in
from ebbtide.text.phrases import PhraseMatch

_WORD = re.compile(r"[^\W\d_](?:[\w'\u2019-]*\w)?")
_SHORT_BELOW = 5  # words
# Where a verb gives an order: at the start, behind "please", "1." or "Alice:", or behind a helping verb.
_ORDER = re.compile(
    r"(?:\A\W*(?:\d+[.)]\s*)?(?:[\w@][\w @.-]{0,30}:\s+)?"
    r"|\b(?:to|will|shall|must|should|please|let['\u2019]s|then|next|also|now|and|first|finally|['\u2019]ll)\W+)"
    r"(?=(?P<verb>[a-z]+(?:-[a-z]+)?)\W+\w)",
    re.IGNORECASE,
)


class Readiness(StrEnum):
    """Class of a round's readiness to be acted on. Source: novelty spec, 3.4."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class ActionKind(StrEnum):
    """Class of how executable a next action is. Source: novelty spec, 3.2.1."""

    SPECIFIC = "specific"
    VAGUE = "vague"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionReading:
    """Reading of one next action.

    Args:
        kind: Vague wins over specific.
        owned: True if it says who does it.
    """

    text: str
    kind: ActionKind
    rule: str
    owned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """Blocker language that was found: the words, and the question or action that they stand in."""

    phrase: str
    text: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundReadiness:
    """Readiness of one round, each part 0 to 1.

    Args:
        readiness: The weighted sum of the three scores.
        next_actions_score: 0 none, 0.3 all vague, 0.7 one specific, 1 several specific and owned.
        open_questions_score: 1 none, 0.7 fewer than before, 0.4 as many, 0.1 more; 0.3 in a first round.
        blocker_score: 0 where a blocker was found, else 1.
    """

    readiness: float
    classification: Readiness
    next_actions_score: float
    open_questions_score: float
    blocker_score: float
    actions: tuple[ActionReading, ...] = ()
    blockers: tuple[Blocker, ...] = ()

    @property
    def blocked(self) -> bool:
        """True if a blocker was found."""
        return bool(self.blockers)

    def detail(self) -> dict[str, float]:
        """Scores of the three parts, by the names of the spec."""
        return {
            "next_actions_score": self.next_actions_score,
            "open_questions_score": self.open_questions_score,
            "blocker_score": self.blocker_score,
        }


def assess_readiness(item: Round, questions_before: int | None, rules: ReadinessRules) -> RoundReadiness:
    """Returns the readiness of a round, from that round and the number of questions in the one before.

    Args:
        questions_before: Open questions of the round before; None for the first round.
        rules: Weights and class limits.
    """
    actions = tuple(read_action(text) for text in item.next_actions if text.strip())
    questions = len(item.open_questions)
    blockers = tuple(find_blockers((*item.open_questions, *item.next_actions)))
    actions_score = _actions_score(actions)
    questions_score = _questions_score(questions, questions_before)
    blocker_score = 0.0 if blockers else 1.0
    total = math.fsum(
        (
            rules.next_actions_weight * actions_score,
            rules.open_questions_weight * questions_score,
            rules.blockers_weight * blocker_score,
        )
    )
    # Rounded, so that a sum that is 0.7 on paper is HIGH.
    readiness = round(total, 9)
    return RoundReadiness(
        readiness=readiness,
        classification=classify(readiness, rules),
        next_actions_score=actions_score,
        open_questions_score=questions_score,
        blocker_score=blocker_score,
        actions=actions,
        blockers=blockers,
    )


def classify(readiness: float, rules: ReadinessRules) -> Readiness:
    """Returns the class of a readiness from 0 to 1. Source: novelty spec, 3.4."""
    if readiness >= rules.high_at_least:
        return Readiness.HIGH
    return Readiness.MEDIUM if readiness >= rules.medium_at_least else Readiness.LOW


def read_action(text: str) -> ActionReading:
    """Reads a next action: whether it can be executed as it stands.

    >>> read_action("Convert this into a 1-page facilitation checklist.").kind.value
    'specific'
    >>> read_action("Maybe deploy it on Friday").rule
    'vague.hedge'
    """

    def reading(kind: ActionKind, rule: str) -> ActionReading:
        owned = OWNERSHIP.first(text, words) is not None
        return ActionReading(text=text, kind=kind, rule=rule, owned=owned)

    words = words_in(text)
    vague = VAGUE.first(text, words)
    if vague is not None:
        return reading(ActionKind.VAGUE, vague.rule.id)
    artifact = ARTIFACTS.first(text, words)
    if artifact is not None:
        return reading(ActionKind.SPECIFIC, artifact.rule.id)
    verb = _imperative_verb(text)
    if verb is not None:
        return reading(ActionKind.SPECIFIC, f"verb.{verb}")
    return reading(ActionKind.VAGUE, "vague.short" if len(text.split()) < _SHORT_BELOW else "vague.no-verb")


def find_blockers(texts: Sequence[str]) -> Iterator[Blocker]:
    """Yields the blocker language in questions and actions; a negated one ("no blockers") does not count."""
    for text in texts:
        match = _blocker(text)
        if match is not None:
            yield Blocker(phrase=match.phrase, text=text, rule=match.rule.id)


def _blocker(text: str) -> PhraseMatch | None:
    if BLOCKERS.first(text) is None:
        return None  # and none is left when what is negated is taken out
    for rule in NEGATED_BLOCKERS:
        text = rule.replace(text, "\u2026")
    return BLOCKERS.first(text)


def _imperative_verb(text: str) -> str | None:
    for word in _WORD.finditer(text):
        if word[0].lower() in SPEC_VERBS:
            return word[0].lower()
    # Any other verb needs something to act on: "Convert this", but not "End."
    return next(
        (verb for verb in (m["verb"].lower() for m in _ORDER.finditer(text)) if verb in IMPERATIVE_VERBS),
        None,
    )


def _actions_score(actions: Sequence[ActionReading]) -> float:
    if not actions:
        return 0.0
    specific = [action for action in actions if action.kind is ActionKind.SPECIFIC]
    if not specific:
        return 0.3
    return 1.0 if len(specific) > 1 and any(action.owned for action in specific) else 0.7


def _questions_score(current: int, previous: int | None) -> float:
    if current == 0:
        return 1.0
    if previous is None:
        return 0.3
    if current == previous:
        return 0.4
    return 0.7 if current < previous else 0.1
