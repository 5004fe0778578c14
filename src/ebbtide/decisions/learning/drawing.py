"""Draws the candidate to label next: half by lot, half the one that the gate is least sure of.

Those by lot say how often the gate is wrong; the others teach it most where labels are few.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.learning.decision_label import Draw
from ebbtide.decisions.learning.features import READ, RuleReading
from ebbtide.decisions.learning.training import LabelledTable
from ebbtide.text.embedding.vectors import Embedder

_COMPARED = 300  # candidates, by lot, of which the most uncertain one is asked about: each costs milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A candidate that nobody labelled yet.

    Args:
        text: Its words.
        document: The file or session that it stands in.
        place: Where in it.
        speaker: Who said it.
        before: The line before it, empty where there is none.
        after: The line after it.
        assessment: What the rules say.
    """

    text: str
    document: str
    place: str
    speaker: str
    before: str
    after: str
    assessment: Assessment


#: Gives the doubt of each candidate: how far it is from the threshold, 0 for the greatest.
Doubt = Callable[[Sequence[OpenQuestion]], Sequence[float]]


def doubt_of_rules(questions: Sequence[OpenQuestion]) -> list[float]:
    """Returns how far each question is from the threshold of the rules; infinite if a rule settles it."""
    readings = [RuleReading.of(each.assessment) for each in questions]
    return [inf if reading.settled else abs(reading.points) for reading in readings]


def doubt_of_labels(table: LabelledTable, embedder: Embedder) -> Doubt:
    """Returns a function that gives the distance of questions from the threshold of a model of the labels.

    Args:
        table: The labels so far, at least one.
        embedder: Gives the meanings of the questions.
    """
    import numpy as np

    fit = table.fit(np.arange(len(table.candidates)))

    def doubt(questions: Sequence[OpenQuestion]) -> list[float]:
        readings = [RuleReading.of(each.assessment) for each in questions]
        rows = table.features.rows(embedder.embed([each.text[:READ] for each in questions]), readings)
        logits = fit.logits(np.array([each.offset for each in readings]), rows)
        return [inf if each.settled else abs(float(n)) for each, n in zip(readings, logits, strict=True)]

    return doubt


def next_question(
    questions: Sequence[OpenQuestion], labels: int, doubt: Doubt = doubt_of_rules
) -> tuple[OpenQuestion, Draw]:
    """The candidate that is asked about after a number of labels.

    It depends on nothing but its arguments, so that who stops goes on where they stopped.

    Args:
        questions: Those that are open, at least one; each text once.
        labels: How many are labelled.
        doubt: How sure the gate is of each.
    """
    if labels % 2 == 0:
        return min(questions, key=_lot), Draw.RANDOM
    some = sorted(questions, key=_lot)[:_COMPARED]
    far = doubt(some)
    return some[min(range(len(some)), key=far.__getitem__)], Draw.UNCERTAIN


def _lot(question: OpenQuestion) -> bytes:
    return hashlib.sha256(f"draw\0{question.text}".encode("utf-8", "replace")).digest()
