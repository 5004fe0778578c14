"""A yes-or-no answer against its labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from ebbtide.codec import Record
from ebbtide.rate import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion(Record):
    """A yes-or-no answer against its labels.

    Args:
        hits: Yes, and the label says yes.
        false_alarms: Yes, and the label says no.
        misses: No, and the label says yes.
        rejections: No, and the label says no.
    """

    _WIRE: ClassVar = "agreement precision recall f1=_rounded_f1"

    hits: int = 0
    false_alarms: int = 0
    misses: int = 0
    rejections: int = 0

    @classmethod
    def at(cls, threshold: float, scores: Sequence[float], labels: Sequence[bool]) -> Self:
        """Counts the confusion if a score of `threshold` or more is a yes."""
        hits = sum(label for score, label in zip(scores, labels, strict=True) if score >= threshold)
        yes = sum(score >= threshold for score in scores)
        positives = sum(labels)
        return cls(
            hits=hits,
            false_alarms=yes - hits,
            misses=positives - hits,
            rejections=len(labels) - positives - yes + hits,
        )

    @classmethod
    def sum(cls, parts: Iterable[Confusion]) -> Self:
        """All of them counted together."""
        every = list(parts)
        return cls(
            hits=sum(part.hits for part in every),
            false_alarms=sum(part.false_alarms for part in every),
            misses=sum(part.misses for part in every),
            rejections=sum(part.rejections for part in every),
        )

    @property
    def precision(self) -> Rate:
        """The share of the yes that are right."""
        return Rate(hits=self.hits, total=self.hits + self.false_alarms)

    @property
    def recall(self) -> Rate:
        """The share of the yes labels that were found."""
        return Rate(hits=self.hits, total=self.hits + self.misses)

    @property
    def agreement(self) -> Rate:
        """The share of all answers that are right."""
        right = self.hits + self.rejections
        return Rate(hits=right, total=right + self.false_alarms + self.misses)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 to 1; 0 where nothing was found."""
        return 2 * self.hits / max(2 * self.hits + self.false_alarms + self.misses, 1)

    @property
    def _rounded_f1(self) -> float:
        return round(self.f1, 4)
