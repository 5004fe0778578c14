"""A threshold fitted to labelled scores, and what it is worth where it was not fitted: on other groups."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ebbtide.codec import Record
from ebbtide.convergence.calibration.confusion import Confusion
from ebbtide.convergence.calibration.curves import best_threshold, threshold_curve

LEAST_LABELS = 30  #: of either kind, below which nothing is fitted
_FOLDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit(Record):
    """A threshold that was fitted, and what it is worth.

    Args:
        threshold: Fitted on every pair.
        fitted_on: What it does there; better than can be expected of new pairs.
        held_out: What the threshold of each fold does on the groups that it was not fitted on, all together.
        fold_thresholds: The threshold of each fold; None where no threshold was precise enough, so that
            nothing was the same.
    """

    threshold: float
    fitted_on: Confusion
    held_out: Confusion
    fold_thresholds: tuple[float | None, ...]


def too_little_to_fit(labels: Sequence[bool], groups: Sequence[str]) -> str | None:
    """Returns the reason why nothing should be fitted to these labels; None if it can be."""
    yes = sum(labels)
    if min(yes, len(labels) - yes) < LEAST_LABELS:
        return f"nothing fitted: {yes} the same and {len(labels) - yes} not, it takes {LEAST_LABELS} of each"
    if fold_numbers(groups) is None:
        return "nothing fitted: all are of one group, so that nothing can be held out"
    return None


def fit_threshold(
    scores: Sequence[float], labels: Sequence[bool], groups: Sequence[str], *, precision_at_least: float = 0.0
) -> Fit | None:
    """The threshold of the best F1, cross-validated over groups.

    Args:
        scores: Higher is more likely to have the label.
        labels: One a score.
        groups: One a score, two different ones at least; a group is held out as a whole.
        precision_at_least: As `best_threshold` takes it.

    Returns:
        None where no threshold is precise enough.
    """
    threshold = best_threshold(threshold_curve(scores, labels), precision_at_least=precision_at_least)
    folds = fold_numbers(groups)
    if threshold is None or folds is None:
        return None
    rows = list(zip(folds, scores, labels, strict=True))
    parts: list[Confusion] = []
    thresholds: list[float | None] = []
    for fold in range(max(folds) + 1):
        inside = [(score, label) for number, score, label in rows if number != fold]
        outside = [(score, label) for number, score, label in rows if number == fold]
        curve = threshold_curve(*zip(*inside, strict=True))
        best = best_threshold(curve, precision_at_least=precision_at_least)
        thresholds.append(best)
        parts.append(Confusion.at(math.inf if best is None else best, *zip(*outside, strict=True)))
    return Fit(
        threshold=threshold,
        fitted_on=Confusion.at(threshold, scores, labels),
        held_out=Confusion.sum(parts),
        fold_thresholds=tuple(thresholds),
    )


def fold_numbers(groups: Sequence[str], *, most: int = _FOLDS) -> tuple[int, ...] | None:
    """The fold in which each item is held out; a group is held out as a whole.

    The largest group goes first, each into the fold that is smallest so far. It depends on nothing but the
    groups.

    Args:
        groups: The group of each item.
        most: Folds at most; fewer where there are fewer groups.

    Returns:
        Numbers from 0; None where there is one group only, so that nothing can be held out.

    >>> fold_numbers(["tea", "tea", "tea", "milk", "milk", "salt"], most=2)
    (0, 0, 0, 1, 1, 1)
    """
    sizes = Counter(groups)
    if len(sizes) < 2:
        return None
    filled = [0] * min(most, len(sizes))
    fold_of: dict[str, int] = {}
    for group, size in sizes.most_common():
        fold = filled.index(min(filled))
        fold_of[group] = fold
        filled[fold] += size
    return tuple(fold_of[group] for group in groups)
