"""The Brier score and its parts.

Source: decision quality gate (clause Q18). The score after G. W. Brier, "Verification of forecasts expressed
in terms of probability", Monthly Weather Review 78 (1950); its parts after A. H. Murphy, "A new vector
partition of the probability score", Journal of Applied Meteorology 12 (1973); the part within bins after
D. B. Stephenson, C. A. S. Coelho and I. T. Jolliffe, "Two extra components in the Brier score decomposition",
Weather and Forecasting 23 (2008).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ebbtide.codec import Record, Rounded
from ebbtide.errors import ConfigError


class Forecast(NamedTuple):
    """A stated probability, and the outcome.

    Args:
        confidence: 0 to 1.
        outcome: 1 for a success, 0 for a failure, and what the policy says for a partial one.
        ts: When it was said, seconds since the epoch; None where nobody knows.
    """

    confidence: float
    outcome: float
    ts: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Brier(Record):
    """The Brier score of forecasts, and what it is made of.

    `score` is `reliability` - `resolution` + `uncertainty` + `within`, up to rounding.

    Args:
        n: Forecasts.
        score: Mean squared difference of confidence and outcome, 0 (best) to 1.
        base_rate: Mean outcome.
        uncertainty: What always saying the base rate would score; the reference.
        reliability: How far the confidences of a bin are from what happened in it; 0 is best.
        resolution: How far what happened in the bins is from the base rate; more is better.
        within: What the bins hide: the spread of the confidences in them, less what it explains. 0 with one
            bin for each distinct confidence.
        skill: 1 - score / uncertainty: 1 is best, 0 no better than the base rate. None where everything
            turned out the same, so that the reference is perfect.
        log_score: Mean negative log-likelihood, in nats. None where somebody was certain and wrong, which
            makes it infinite.
        certain_and_wrong: Forecasts of 0 or 1 that turned out otherwise.
    """

    n: int
    score: Rounded
    base_rate: Rounded
    uncertainty: Rounded
    reliability: Rounded
    resolution: Rounded
    within: Rounded
    skill: Rounded | None
    log_score: Rounded | None
    certain_and_wrong: int


def brier_score(forecasts: Sequence[Forecast]) -> float:
    """Mean squared difference of confidence and outcome, 0 to 1.

    Raises:
        ConfigError: There are no forecasts, or a value is not from 0 to 1.

    >>> brier_score([Forecast(1.0, 1.0), Forecast(0.5, 0.0)])
    0.125
    """
    check(forecasts)
    return math.fsum(squared_error(forecast) for forecast in forecasts) / len(forecasts)


def squared_error(forecast: Forecast) -> float:
    """Squared difference of confidence and outcome, 0 to 1."""
    return (forecast.confidence - forecast.outcome) ** 2


def check(forecasts: Sequence[Forecast]) -> None:
    """Refuse what no score can be computed of.

    Raises:
        ConfigError: There are no forecasts, or a value is not from 0 to 1.
    """
    if not forecasts:
        raise ConfigError("no forecasts: nothing was stated, or nothing is known of how it turned out")
    for place, forecast in enumerate(forecasts):
        if not (0 <= forecast.confidence <= 1 and 0 <= forecast.outcome <= 1):
            raise ConfigError(f"forecasts[{place}] = {tuple(forecast)!r}: expected numbers from 0 to 1")


def read_brier(bins: Sequence[Sequence[Forecast]]) -> Brier:
    """The Brier score and its parts.

    Args:
        bins: The forecasts, in the bins that the parts are computed over. None of them is empty.

    Raises:
        ConfigError: There are no forecasts, or a value is not from 0 to 1.
    """
    forecasts = [forecast for row in bins for forecast in row]
    score = brier_score(forecasts)
    n = len(forecasts)
    base = _mean([forecast.outcome for forecast in forecasts])
    uncertainty = math.fsum((forecast.outcome - base) ** 2 for forecast in forecasts) / n
    reliability: list[float] = []
    resolution: list[float] = []
    within: list[float] = []
    for row in bins:
        sure = _mean([forecast.confidence for forecast in row])
        rate = _mean([forecast.outcome for forecast in row])
        reliability.append(len(row) * (sure - rate) ** 2)
        resolution.append(len(row) * (rate - base) ** 2)
        within += (
            (forecast.confidence - sure) ** 2 - 2 * (forecast.confidence - sure) * (forecast.outcome - rate)
            for forecast in row
        )
    losses = [_loss(forecast) for forecast in forecasts]
    wrong = sum(math.isinf(loss) for loss in losses)
    return Brier(
        n=n,
        score=score,
        base_rate=base,
        uncertainty=uncertainty,
        reliability=math.fsum(reliability) / n,
        resolution=math.fsum(resolution) / n,
        within=math.fsum(within) / n,
        skill=1 - score / uncertainty if uncertainty else None,
        log_score=None if wrong else math.fsum(losses) / n,
        certain_and_wrong=wrong,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _loss(forecast: Forecast) -> float:
    """Negative log-likelihood in nats; infinite where the impossible happened."""
    loss = 0.0
    for weight, chance in (
        (forecast.outcome, forecast.confidence),
        (1 - forecast.outcome, 1 - forecast.confidence),
    ):
        if weight:
            loss += math.inf if chance == 0 else -weight * math.log(chance)
    return loss
