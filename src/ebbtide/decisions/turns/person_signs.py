"""Recognizes the sentences of people that choose something: a sum of many weak signs and a few strong ones.

People choose in fewer words than agents, and in more ways than rules foresee: "remove all traces of it". Each
sign has a weight and none says it alone. The weights are those of a logistic regression, and the threshold is
where four of five kept sentences of documents that it was not fitted on are right.

Source: `python -m benchmarks.quality.person_signs`, which fits the weights and writes `person_signs.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ebbtide.decisions.turns.sign_rules import SIGNS
from ebbtide.decisions.turns.turn_rules import CHOICES, PERSONS
from ebbtide.text.extraction.turn import ExtractedItem, ItemKind
from ebbtide.text.pattern_words import words_in
from ebbtide.text.phrases import PhraseMatch, folded

#: The file of the weights, beside this module.
WEIGHTS_FILE = "person_signs.json"
_TASK = 600  # characters of a turn from which on it is a task, not a choice
_BRIEF = 120  # characters


class PersonWeights(NamedTuple):
    """The weight of each sign by name, in logits, and the sum from which on a sentence chooses something."""

    weights: Mapping[str, float]
    threshold: float


class PersonSigns(NamedTuple):
    """The signs in a person's sentence.

    Args:
        names: Of the signs, each once.
        match: The wording that states a choice or says what it is about, where there is one.
    """

    names: tuple[str, ...]
    match: PhraseMatch | None

    @property
    def strongest(self) -> str:
        """The sign that speaks most for a choice."""
        weights = person_weights().weights
        return max(self.names, key=lambda name: weights.get(name, 0.0))

    @property
    def say_choice(self) -> bool:
        """True if the signs add up to a choice."""
        return score(self.names) >= person_weights().threshold


def signs_of(sentence: ExtractedItem, turn: str, *, alone: bool) -> PersonSigns:
    """The signs of a person's sentence.

    Args:
        turn: All that was said.
        alone: There is no other sentence in the turn.
    """
    lowered = folded(sentence.text)
    words = words_in(lowered)
    names = [match.rule.id for match in SIGNS.matches(lowered, words)]
    of_person, of_anybody = PERSONS.first(lowered, words), CHOICES.first(lowered, words)
    end = lowered.rstrip()[-1:]
    circumstances = {
        "rule.person": of_person is not None,
        "rule.anybody": of_anybody is not None,
        "kind.decision": sentence.kind is ItemKind.DECISION,
        "end.question": end == "?",
        "end.colon": end == ":",
        "end.exclamation": end == "!",
        "turn.task": len(turn) > _TASK,
        "turn.brief": len(turn) < _BRIEF,
        "turn.alone": alone,
    }
    names += [name for name, holds in circumstances.items() if holds]
    return PersonSigns(tuple(names), of_person or of_anybody)


def score(signs: Iterable[str]) -> float:
    """Sums up signs in logits beside the threshold; one that has no weight counts nothing."""
    weights = person_weights().weights
    return sum(weights.get(name, 0.0) for name in signs)


@cache
def person_weights() -> PersonWeights:
    """The weights of the signs, as they were fitted."""
    text = (files(__package__) / WEIGHTS_FILE).read_text(encoding="utf-8")
    return PersonWeights(**json.loads(text))
