"""From labels to a model, and what the labels bring, measured on documents that it was not made of."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ebbtide.codec import Record
from ebbtide.decisions.learning.decision_label import Draw
from ebbtide.decisions.learning.features import (
    READ,
    FeatureTable,
    LabelledCandidate,
    LearnedWeights,
    trust_in,
)
from ebbtide.decisions.learning.learned_model import LearnedModel, ModelExample
from ebbtide.decisions.learning.logistic import Numbers, fitted_weights
from ebbtide.rate import Rate
from ebbtide.text.embedding.vectors import Embedder, Vectors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Share of the decisions that the threshold may lose in the folds.
LOST_BELOW = 0.05
SIZES = (0, 25, 50, 100, 200, 400, 800)  # labels of the learning curve
_FOLDS = 5
# Labelled decisions that the rules' own threshold is worth beside those in the folds.
_PRIOR_DECISIONS = 20.0
# What a label counts for the threshold that was asked for because the gate was unsure: such texts are harder.
_UNCERTAIN_COUNTS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPoint:
    """The gain of a number of labels.

    Args:
        labels: How many the model was made of, before each fold.
        loss: Decisions that it refuses.
        passed: Texts that are no decision and that it keeps.
    """

    labels: int
    loss: Rate
    passed: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingReport(Record):
    """The labels that a model was trained on, and the rates that they bring.

    Args:
        decisions: Labels that say decision.
        others: Labels that say none.
        documents: How many documents they are of.
        by_document: Whether the folds are whole documents; where there is one only they are single texts,
            and the rates flatter.
        curve: From 0 labels, which is the rules alone, to all that a fold leaves; each rate is over all
            labels, each judged by a model that did not see its document.
        honest: The last point over the labels alone that were drawn by lot; None where there are none.
    """

    decisions: int
    others: int
    documents: int
    by_document: bool
    curve: tuple[LearningPoint, ...]
    honest: LearningPoint | None


class LabelledTable:
    """Labelled candidates as rows of numbers, of which models of any part are made.

    Args:
        candidates: What was labelled.
        vectors: Their meanings, in the same order.
    """

    def __init__(self, candidates: Sequence[LabelledCandidate], vectors: Vectors) -> None:
        import numpy as np

        self.candidates = tuple(candidates)
        self.vectors = vectors
        readings = [each.reading for each in candidates]
        self.features = FeatureTable(sorted({name for reading in readings for name in reading.rules}))
        self.rows = self.features.rows(vectors, readings)
        self.offsets: Numbers = np.array([reading.offset for reading in readings])
        self.targets: Numbers = np.array([0.0 if each.is_decision else 1.0 for each in candidates])
        self.settled = np.array([reading.settled for reading in readings], dtype=bool)
        self.counts: Numbers = np.array(
            [_UNCERTAIN_COUNTS if each.label.draw is Draw.UNCERTAIN else 1.0 for each in candidates]
        )
        documents = {each.label.document for each in candidates}
        self.by_document = len(documents) > 1
        self.documents = len(documents)
        groups = [each.label.document if self.by_document else each.label.text for each in candidates]
        order = {name: n for n, name in enumerate(sorted(set(groups), key=_lot))}
        self.groups = np.array([order[name] for name in groups])
        self.lots = np.array(sorted(range(len(groups)), key=lambda n: _lot(candidates[n].label.text)))

    def fit(self, part: npt.NDArray[np.int_]) -> LearnedWeights:
        """Fits weights to some of the rows; both kinds of labels weigh the same in sum."""
        import numpy as np

        targets = self.targets[part]
        importance = np.ones(len(part))
        for kind in (0.0, 1.0):
            share = float(np.mean(targets == kind)) if len(part) else 0.0
            if 0.0 < share < 1.0:
                importance[targets == kind] = 0.5 / share
        weights = fitted_weights(self.rows[part], targets, self.offsets[part], importance)
        return LearnedWeights(weights=weights, trust=trust_in(int(np.sum(targets == 0.0))))

    def logits(self, part: npt.NDArray[np.int_], fit: LearnedWeights) -> Numbers:
        """Logits of "no decision" of some of the rows."""
        return fit.logits(self.offsets[part], self.rows[part])

    def model(self, part: npt.NDArray[np.int_]) -> tuple[LearnedWeights, float]:
        """Fits weights to some of the rows, and finds the threshold from folds of them."""
        import numpy as np

        logits = self.offsets[part].copy()
        for test in self.folds(part):
            rest = np.setdiff1d(part, test)
            logits[np.isin(part, test)] = self.logits(test, self.fit(rest))
        of_decisions = (self.targets[part] == 0.0) & ~self.settled[part]
        threshold = _threshold(logits[of_decisions], self.counts[part][of_decisions])
        return self.fit(part), threshold

    def folds(self, part: npt.NDArray[np.int_]) -> list[npt.NDArray[np.int_]]:
        """Some of the rows in five parts, whole documents each."""
        import numpy as np

        _, ranks = np.unique(self.groups[part], return_inverse=True)
        parts = [part[ranks % _FOLDS == number] for number in range(_FOLDS)]
        return [each for each in parts if len(each)]

    def refused(self, test: npt.NDArray[np.int_], train: npt.NDArray[np.int_]) -> npt.NDArray[np.bool_]:
        """Marks the test rows that a model of the training rows refuses."""
        fit, threshold = self.model(train)
        verdicts: npt.NDArray[np.bool_] = self.settled[test] | (self.logits(test, fit) >= threshold)
        return verdicts


def model_of(table: LabelledTable, *, embedding: str, refuse_at: float, made_by: str) -> LearnedModel:
    """A model of all labels. Without labels it is one that changes nothing.

    Args:
        table: The labels.
        embedding: Names the files that made their meanings.
        refuse_at: Threshold of the rules, in points.
        made_by: Version of Ebbtide.
    """
    import numpy as np

    candidates = table.candidates
    fit, threshold = table.model(np.arange(len(candidates)))
    return LearnedModel(
        made_by=made_by,
        embedding=embedding,
        refuse_at=refuse_at,
        threshold=threshold,
        rules=table.features.rules,
        fit=fit,
        examples=tuple(
            ModelExample(text=each.label.text, is_decision=each.is_decision) for each in candidates
        ),
        vectors=table.vectors,
    )


def labelled_table(candidates: Sequence[LabelledCandidate], embedder: Embedder) -> LabelledTable:
    """Labelled candidates with their meanings."""
    return LabelledTable(candidates, embedder.embed([each.label.text[:READ] for each in candidates]))


def training_report(table: LabelledTable) -> TrainingReport:
    """Measures the benefit of the labels: every fold is judged by models that were made of the others.

    Args:
        table: The labels; at least one.
    """
    import numpy as np

    everything = np.arange(len(table.candidates))
    folds = table.folds(everything)
    largest = len(everything) - max(map(len, folds))
    sizes = [size for size in SIZES if size < largest] + ([largest] if largest else [])
    curve, verdicts = [], np.zeros(len(everything), dtype=bool)
    for size in sizes or [0]:
        for test in folds:
            rest = table.lots[~np.isin(table.lots, test)]
            verdicts[test] = table.refused(test, np.sort(rest[:size]))
        curve.append(_point(table, size, everything, verdicts))
    drawn_by_lot = np.array(
        [n for n in everything if table.candidates[n].label.draw is Draw.RANDOM], dtype=int
    )
    return TrainingReport(
        decisions=int(np.sum(table.targets == 0.0)),
        others=int(np.sum(table.targets == 1.0)),
        documents=table.documents,
        by_document=table.by_document,
        curve=tuple(curve),
        honest=_point(table, curve[-1].labels, drawn_by_lot, verdicts) if len(drawn_by_lot) else None,
    )


def _point(
    table: LabelledTable, labels: int, of: npt.NDArray[np.int_], refusals: npt.NDArray[np.bool_]
) -> LearningPoint:
    decisions = [n for n in of if table.candidates[n].is_decision]
    others = [n for n in of if not table.candidates[n].is_decision]
    return LearningPoint(
        labels=labels,
        loss=Rate(hits=int(refusals[decisions].sum()), total=len(decisions)),
        passed=Rate(hits=int((~refusals[others]).sum()), total=len(others)),
    )


def _threshold(decisions: Numbers, counts: Numbers) -> float:
    """The lowest logit that refuses at most 5 % of the decisions; near that of the rules where they are few.

    Args:
        decisions: Their logits in the folds.
        counts: What each counts.
    """
    import numpy as np

    if not len(decisions):
        return 0.0
    order = np.argsort(-decisions)
    shares = np.cumsum(counts[order]) / counts.sum()
    first_kept = min(int(np.searchsorted(shares, LOST_BELOW, side="right")), len(order) - 1)
    lowest = float(np.nextafter(decisions[order][first_kept], np.inf))
    weight = float(counts.sum())
    return lowest * weight / (weight + _PRIOR_DECISIONS)


def _lot(text: str) -> bytes:
    """A number that stands in no relation to the words."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
