"""Logistic regression with a prior, for fewer labels than there are features."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: float64
Numbers: TypeAlias = "npt.NDArray[np.float64]"

_STEPS = 100
_CLOSE = 1e-8
_STRIDE = 4.0  # logits that a step moves one row at most: a full step from far off overshoots
_FLAT = 1e-6  # curvature of a row that is as good as decided


def fitted_weights(rows: Numbers, targets: Numbers, offsets: Numbers, importance: Numbers) -> Numbers:
    """The most likely weights under a normal prior of mean 0 and variance 1.

    The logit of a row is ``offset + row @ weights``. Newton's method in as many unknowns as there are rows,
    since they are fewer than the features. Without rows all weights are 0.

    Args:
        rows: Rows x features, scaled: a feature counts as much as its square.
        targets: One number a row, 0 or 1.
        offsets: What the logit of each row is before anything is learned.
        importance: How often each row counts, above 0.

    Source: C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning" (2006), 3.4.
    """
    import numpy as np

    kernel = rows @ rows.T
    coefficients, logits = np.zeros(len(rows)), offsets.astype(np.float64)
    for _ in range(_STEPS):
        chances = 0.5 * (1.0 + np.tanh(logits / 2.0))
        curvature = np.maximum(chances * (1.0 - chances), _FLAT)
        aim = logits - offsets + (targets - chances) / curvature
        step = np.linalg.solve(kernel + np.diag(1.0 / (importance * curvature)), aim) - coefficients
        moves = kernel @ step
        furthest = float(np.abs(moves).max(initial=0.0))
        share = min(1.0, _STRIDE / furthest) if furthest else 1.0
        coefficients += share * step
        logits = offsets + kernel @ coefficients
        if furthest < _CLOSE:
            break
    weights: Numbers = rows.T @ coefficients
    return weights
