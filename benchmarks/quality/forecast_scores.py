"""A logistic regression for many rows, and how good the chances are that it gives."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

BINS = 5
_STEPS = 50
_CLOSE = 1e-7
_PRIOR = 1.0  # variance of a weight before anything is seen, for features of variance 1
_DRAWS = 500
_SEED = 20_261
_LIMITS = (2.5, 97.5)


class Forecaster:
    """Chances by a logistic regression on standardized features, missing ones at their mean.

    Args:
        rows: Rows x features; NaN where a feature is not known.
        outcomes: 0 or 1 for each row.
        importance: How much each row counts, 1 on average.
        prior: Variance of each weight before anything is seen.
    """

    def __init__(
        self, rows: Numbers, outcomes: Numbers, importance: Numbers | None = None, prior: float = _PRIOR
    ) -> None:
        known = ~np.isnan(rows)
        counts = np.maximum(known.sum(axis=0), 1)
        self._mean = np.where(known, rows, 0.0).sum(axis=0) / counts
        spread = np.sqrt((np.where(known, rows - self._mean, 0.0) ** 2).sum(axis=0) / counts)
        self._spread = np.where(spread > 0, spread, 1.0)
        matrix = self._matrix(rows)
        weight = np.ones(len(rows)) if importance is None else importance
        penalty = np.full(matrix.shape[1], 1.0 / prior)
        penalty[0] = 1e-6
        weights = np.zeros(matrix.shape[1])
        for _ in range(_STEPS):
            chances = _chances(matrix @ weights)
            slope = matrix.T @ (weight * (outcomes - chances)) - penalty * weights
            curvature = weight * np.maximum(chances * (1 - chances), 1e-6)
            step = np.linalg.solve((matrix * curvature[:, None]).T @ matrix + np.diag(penalty), slope)
            step *= min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-12))
            weights += step
            if float(np.abs(step).max()) < _CLOSE:
                break
        self.weights = weights

    def _matrix(self, rows: Numbers) -> Numbers:
        scaled = np.nan_to_num((rows - self._mean) / self._spread, nan=0.0)
        return np.column_stack([np.ones(len(rows)), np.clip(scaled, -4.0, 4.0)])

    def chances(self, rows: Numbers) -> Numbers:
        """The chance of each row, 0 to 1."""
        return _chances(self._matrix(rows) @ self.weights)


def _chances(logits: Numbers) -> Numbers:
    return np.asarray(0.5 * (1.0 + np.tanh(logits / 2.0)), dtype=np.float64)


def auc(chances: Numbers, outcomes: Numbers, folds: Numbers | None = None) -> float:
    """The chance that a row with outcome 1 has more than one with 0; ties are half; NaN without both.

    Args:
        chances: The chances.
        outcomes: 0 or 1.
        folds: Rows of one fold are compared with each other alone: what a base rate loses in one fold, its
            other folds have more of, which says nothing of a forecast.
    """
    places = np.zeros(len(outcomes)) if folds is None else folds
    won = pairs = 0.0
    for fold in np.unique(places):
        own, came = chances[places == fold], outcomes[places == fold]
        ones = float(came.sum())
        zeros = len(came) - ones
        if not ones or not zeros:
            continue
        _, place, counts = np.unique(own, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
        won += float(ranks[came > 0].sum() - ones * (ones + 1) / 2)
        pairs += ones * zeros
    return won / pairs if pairs else float("nan")


def brier(chances: Numbers, outcomes: Numbers) -> float:
    """The mean squared distance of chance and outcome."""
    return float(np.mean((chances - outcomes) ** 2))


def reliability(chances: Numbers, outcomes: Numbers) -> list[dict[str, float]]:
    """Five bins of equal width: how many rows, their mean chance, and the share that came true."""
    bins = []
    place = np.minimum((chances * BINS).astype(int), BINS - 1)
    for number in range(BINS):
        own = place == number
        if own.any():
            bins.append(
                {
                    "from": number / BINS,
                    "n": int(own.sum()),
                    "said": round(float(chances[own].mean()), 3),
                    "came": round(float(outcomes[own].mean()), 3),
                }
            )
    return bins


def calibration_error(chances: Numbers, outcomes: Numbers) -> float:
    """The mean distance of what was said and what came, over the five bins, by their size."""
    bins = reliability(chances, outcomes)
    return sum(row["n"] * abs(row["said"] - row["came"]) for row in bins) / len(outcomes)


def interval(
    clusters: Sequence[Hashable], measure: Callable[[npt.NDArray[np.int64]], float]
) -> tuple[float, float] | None:
    """The middle 95 % of a measure over draws of whole clusters; None where it cannot be computed.

    Args:
        clusters: That of each row.
        measure: Gives the value for the numbers of some rows.
    """
    names: dict[Hashable, list[int]] = {}
    for number, name in enumerate(clusters):
        names.setdefault(name, []).append(number)
    members = [np.array(rows) for rows in names.values()]
    dice = np.random.default_rng(_SEED)
    values = []
    for _ in range(_DRAWS):
        drawn = dice.integers(0, len(members), len(members))
        value = measure(np.concatenate([members[each] for each in drawn]))
        if not np.isnan(value):
            values.append(value)
    if len(values) < _DRAWS // 2:
        return None
    low, high = np.percentile(values, _LIMITS)
    return round(float(low), 4), round(float(high), 4)


class Asked(NamedTuple):
    """Rows that forecasts are asked about.

    Args:
        outcomes: 0 or 1.
        clusters: What is drawn together.
        folds: Those of the forecasts.
    """

    outcomes: Numbers
    clusters: Sequence[Hashable]
    folds: Numbers

    def auc(self, chances: Numbers, rows: npt.NDArray[np.int64] | None = None) -> float:
        """The AUC of chances, of some of the rows or of all."""
        if rows is None:
            return auc(chances, self.outcomes, self.folds)
        return auc(chances[rows], self.outcomes[rows], self.folds[rows])

    def brier(self, chances: Numbers, rows: npt.NDArray[np.int64] | None = None) -> float:
        """The Brier score of chances, of some of the rows or of all."""
        if rows is None:
            return brier(chances, self.outcomes)
        return brier(chances[rows], self.outcomes[rows])


def scored(chances: Numbers, asked: Asked) -> dict[str, Any]:
    """AUC and Brier score of chances with intervals, and their calibration."""
    return {
        "auc": _rounded(asked.auc(chances)),
        "auc_interval": interval(asked.clusters, lambda rows: asked.auc(chances, rows)),
        "brier": _rounded(asked.brier(chances)),
        "brier_interval": interval(asked.clusters, lambda rows: asked.brier(chances, rows)),
        "calibration_error": round(calibration_error(chances, asked.outcomes), 4),
    }


def gains(chances: Numbers, other: Numbers, asked: Asked, order: Numbers | None = None) -> dict[str, Any]:
    """What chances have more of AUC, and less of the Brier score, than other chances, with intervals.

    Args:
        chances: The chances.
        other: Those they are held against.
        asked: The rows.
        order: The order of the others that the AUC takes; None takes themselves.
    """
    ordered = other if order is None else order
    return {
        "auc": _rounded(asked.auc(chances) - asked.auc(ordered)),
        "auc_interval": interval(
            asked.clusters, lambda rows: asked.auc(chances, rows) - asked.auc(ordered, rows)
        ),
        "brier": _rounded(asked.brier(other) - asked.brier(chances)),
        "brier_interval": interval(
            asked.clusters, lambda rows: asked.brier(other, rows) - asked.brier(chances, rows)
        ),
    }


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 4)
