"""Scores against labels at every threshold: the curve, the areas under it, and the best place on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from ebbtide.rate import Rate

_STEPS = 1000
_ROUNDING = 1e-9


class CurvePoint(NamedTuple):
    """The effect of a threshold: `hits` of the `yes` scores at or above it have the label."""

    threshold: float
    yes: int
    hits: int


def threshold_curve(scores: Sequence[float], labels: Sequence[bool]) -> tuple[CurvePoint, ...]:
    """One point for each distinct score, the highest first.

    >>> threshold_curve([0.9, 0.5, 0.5], [True, True, False])
    (CurvePoint(threshold=0.9, yes=1, hits=1), CurvePoint(threshold=0.5, yes=3, hits=2))
    """
    ranked = sorted(zip(scores, labels, strict=True), key=lambda pair: -pair[0])
    points: list[CurvePoint] = []
    yes = hits = 0
    for score, tied in groupby(ranked, key=lambda pair: pair[0]):
        same = [label for _, label in tied]
        yes, hits = yes + len(same), hits + sum(same)
        points.append(CurvePoint(score, yes, hits))
    return tuple(points)


def average_precision(curve: Sequence[CurvePoint]) -> float | None:
    """Precision, averaged over the labels in the order in which falling thresholds find them, 0 to 1.

    Returns:
        What a random order gets on average is the share of labels. None where there are none.

    Source: sum of (R_n - R_{n-1}) P_n, without interpolation; equal scores are one step.
    """
    positives = curve[-1].hits if curve else 0
    if not positives:
        return None
    before = [0, *(point.hits for point in curve)]
    steps = zip(before, curve, strict=False)
    return math.fsum((point.hits - hits) * point.hits / point.yes for hits, point in steps) / positives


def area_under_roc(curve: Sequence[CurvePoint]) -> float | None:
    """The chance that a score with the label is above one without it, 0 to 1; a tie counts half.

    Returns:
        0.5 is chance. None where either kind is missing.
    """
    if not curve or not 0 < curve[-1].hits < curve[-1].yes:
        return None
    negatives = curve[-1].yes - curve[-1].hits
    above = 0.0  # pairs in the right order
    hits = yes = 0
    for point in curve:
        others = point.yes - yes - (point.hits - hits)
        above += others * (hits + point.hits) / 2
        yes, hits = point.yes, point.hits
    return above / (curve[-1].hits * negatives)


def best_threshold(curve: Sequence[CurvePoint], *, precision_at_least: float = 0.0) -> float | None:
    """The threshold of the best F1 among those over 0 that are precise enough.

    Args:
        curve: As `threshold_curve` gives it.
        precision_at_least: Of the scores at or above the threshold, the share that must have the label, with
            a certainty of 97.5 %: the lower end of the interval counts, since two of two is not 100 %.

    Returns:
        Rounded down to three decimals; of equals the highest. None where no threshold finds a label with
        that precision.
    """
    best, best_f1 = None, 0.0
    positives = curve[-1].hits if curve else 0
    for point in curve:
        threshold = math.floor(point.threshold * _STEPS + _ROUNDING) / _STEPS
        f1 = 2 * point.hits / (point.yes + positives)
        if f1 <= best_f1 or threshold <= 0:
            continue
        if Rate(hits=point.hits, total=point.yes).interval[0] >= precision_at_least:
            best, best_f1 = threshold, f1
    return best
