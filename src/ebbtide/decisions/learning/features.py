"""The features of a candidate that the model sees: its meaning, and the verdict of the gate's rules.

The rules' own verdict is where the logit of "no decision" begins; each feature moves it as far as the labels
ask, and the prior holds it back. How much each kind of feature may move was chosen once, on public data:
`python -m benchmarks.quality.own_labels` prints what it brings.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.learning.decision_label import DecisionLabel, LabelKind
from ebbtide.decisions.learning.logistic import Numbers
from ebbtide.text.embedding.vectors import Vectors

if TYPE_CHECKING:
    import numpy as np

#: Logits of "no decision" that a point of the rules' noise less choice is worth.
LOGITS_A_POINT = 1.5
READ = 500  # characters of a candidate: what it is, it says at its beginning
_HALF_TRUST = 10  # decisions
_FURTHEST = 3.0  # points from the threshold beyond which the rules are not more certain
# Square roots of prior variances, in logits.
_MEANING, _RULE, _SCORE, _SHIFT = sqrt(5.0), 1.0, sqrt(0.3), 1.0


class RuleReading(NamedTuple):
    """The verdict of the rules on a candidate, as the model reads it.

    Args:
        points: Noise less choice, less the threshold: the rules refuse from 0 on.
        rules: Ids of those that fired.
        settled: Whether a rule alone refuses it, which no label changes.
    """

    points: float
    rules: tuple[str, ...]
    settled: bool

    @classmethod
    def of(cls, assessment: Assessment) -> RuleReading:
        """The reading of an assessment by the rules alone."""
        return cls(
            points=assessment.noise - assessment.choice - assessment.threshold,
            rules=tuple(rule.id for rule in assessment.rules),
            settled=any(rule.decides for rule in assessment.rules),
        )

    @property
    def offset(self) -> float:
        """The logit of "no decision" before anything is learned."""
        return LOGITS_A_POINT * bounded_points(self.points)


class LabelledCandidate(NamedTuple):
    """A label, and what the rules make of its text today."""

    label: DecisionLabel
    reading: RuleReading

    @property
    def is_decision(self) -> bool:
        """True if somebody said that it is a decision."""
        return self.label.label == LabelKind.DECISION


class LearnedWeights(NamedTuple):
    """Weights that were fitted to labels.

    Args:
        weights: One a feature.
        trust: What counts of a move towards refusing, 0 to 1.
    """

    weights: Numbers
    trust: float

    def logits(self, offsets: Numbers, rows: Numbers) -> Numbers:
        """Logits of "no decision".

        Args:
            offsets: What the rules say, one a row.
            rows: Rows x features.
        """
        import numpy as np

        moves = rows @ self.weights
        logits: Numbers = offsets + np.where(moves > 0.0, self.trust * moves, moves)
        return logits


def trust_in(decisions: int) -> float:
    """Returns the share of a move towards refusing that counts: few decisions among the labels, little trust.

    Args:
        decisions: How many of the labels say decision.

    >>> trust_in(0), trust_in(10), trust_in(90)
    (0.0, 0.5, 0.9)
    """
    return decisions / (decisions + _HALF_TRUST)


def bounded_points(points: float) -> float:
    """Points, as far as they say more.

    >>> bounded_points(-4.5), bounded_points(0.25)
    (-3.0, 0.25)
    """
    return max(-_FURTHEST, min(points, _FURTHEST))


class FeatureTable:
    """Lays candidates out as rows of numbers.

    Args:
        rules: Ids of the rules that have a column.
    """

    def __init__(self, rules: Sequence[str]) -> None:
        self.rules = tuple(rules)
        self._columns = {name: number for number, name in enumerate(self.rules)}

    def rows(self, vectors: Vectors, readings: Sequence[RuleReading]) -> Numbers:
        """Rows x features: meaning, a column a rule, points, and a constant.

        Args:
            vectors: The meaning of each candidate.
            readings: What the rules say of each; rules without a column are left out.
        """
        import numpy as np

        marks: np.ndarray[tuple[int, int], np.dtype[np.float64]]
        marks = np.zeros((len(readings), len(self.rules)))
        for number, reading in enumerate(readings):
            for name in reading.rules:
                if name in self._columns:
                    marks[number, self._columns[name]] = _RULE
        scores = np.array([_SCORE * bounded_points(each.points) for each in readings]).reshape(-1, 1)
        parts = (_MEANING * vectors.astype(np.float64), marks, scores, np.full((len(readings), 1), _SHIFT))
        return np.hstack(parts)
