"""Scores of forecasts: the Brier score and its parts, the reliability by bin, and the calibration error.

Source: decision quality gate (clause Q18). The score after G. W. Brier, "Verification of forecasts expressed
in terms of probability", Monthly Weather Review 78 (1950); its parts after A. H. Murphy, "A new vector
partition of the probability score", Journal of Applied Meteorology 12 (1973). Bins as in A. Niculescu-Mizil
and R. Caruana, "Predicting good probabilities with supervised learning" (ICML 2005); the calibration error
after M. P. Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian
binning" (AAAI 2015). That it is above zero for a perfect forecaster too, the more the fewer the forecasts, is
why its expectation stands beside it; J. Broecker and L. A. Smith, "Increasing the reliability of reliability
diagrams", Weather and Forecasting 22 (2007), ask the same of each bin.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import ClassVar, NamedTuple

from ebbtide.codec import Record, Rounded
from ebbtide.errors import ConfigError
from ebbtide.rate import Rate

_BINS = 10
_EDGES = [edge / _BINS for edge in range(1, _BINS)]
_EXACT = 400  # forecasts of a bin up to which the spread of a perfect forecaster is counted, not approximated
_ONE_SIDED = 1.644854  # 95 %


class Forecast(NamedTuple):
    """A stated probability, and the outcome.

    Args:
        confidence: 0 to 1.
        outcome: 1 for a success, 0 for a failure, 0.5 for a partial one.
    """

    confidence: float
    outcome: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Brier(Record):
    """The Brier score of forecasts, and what it is made of.

    `score` is `reliability` - `resolution` + `uncertainty`, up to rounding.

    Args:
        n: Forecasts.
        score: Mean squared difference of confidence and outcome, 0 (best) to 1.
        base_rate: Mean outcome.
        uncertainty: What always saying the base rate would score; the reference.
        reliability: How far each confidence is from what happened to the forecasts with it; 0 is best.
        resolution: How far what happened to them is from the base rate; more is better.
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
    skill: Rounded | None
    log_score: Rounded | None
    certain_and_wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin(Record):
    """The forecasts with about one confidence.

    Args:
        low: Lower edge.
        high: Upper edge.
        n: Forecasts.
        mean_confidence: Their mean.
        rate: Mean outcome.
        interval: Wilson interval of the rate, 95 %. A partial outcome widens it.
    """

    _WIRE: ClassVar = "low high n mean_confidence rate interval_95=interval"

    low: Rounded
    high: Rounded
    n: int
    mean_confidence: Rounded
    rate: Rounded
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationError(Record):
    """The expected calibration error, and how much of it is to be expected of nobody's fault.

    Args:
        value: Mean distance of confidence and rate over the bins, by their counts, 0 to 1.
        largest: The largest distance of a bin.
        expected: What a perfectly calibrated forecaster with these confidences would show on average with so
            few forecasts.
        usual_below: What such a forecaster stays under in about 19 of 20 cases; a value above it is hardly
            chance.
    """

    value: Rounded
    largest: Rounded
    expected: Rounded
    usual_below: Rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores(Record):
    """Scores of forecasts.

    Args:
        brier: The score and its parts.
        bins: What happened to the forecasts of each bin.
        error: The calibration error over these bins.
    """

    _WIRE: ClassVar = "brier calibration_error=error bins"

    brier: Brier
    bins: tuple[ReliabilityBin, ...]
    error: CalibrationError


def score_forecasts(forecasts: Sequence[Forecast]) -> Scores:
    """Scores forecasts, wherever they come from.

    Args:
        forecasts: At least one.

    Raises:
        ConfigError: There are no forecasts, or a value is not from 0 to 1.
    """
    bins = in_bins(forecasts)
    return Scores(
        brier=brier_of(forecasts), bins=tuple(map(_reliability, bins)), error=calibration_error(bins)
    )


def brier_of(forecasts: Sequence[Forecast]) -> Brier:
    """The Brier score and its parts.

    Raises:
        ConfigError: There are no forecasts, or a value is not from 0 to 1.

    >>> brier_of([Forecast(1.0, 1.0), Forecast(0.5, 0.0)]).score
    0.125
    """
    _check(forecasts)
    n = len(forecasts)
    score = math.fsum((forecast.confidence - forecast.outcome) ** 2 for forecast in forecasts) / n
    base = math.fsum(forecast.outcome for forecast in forecasts) / n
    uncertainty = math.fsum((forecast.outcome - base) ** 2 for forecast in forecasts) / n
    reliability: list[float] = []
    resolution: list[float] = []
    for sure, equals in groupby(_by_confidence(forecasts), key=attrgetter("confidence")):
        outcomes = [forecast.outcome for forecast in equals]
        rate = math.fsum(outcomes) / len(outcomes)
        reliability.append(len(outcomes) * (sure - rate) ** 2)
        resolution.append(len(outcomes) * (rate - base) ** 2)
    losses = [_loss(forecast) for forecast in forecasts]
    wrong = sum(map(math.isinf, losses))
    return Brier(
        n=n,
        score=score,
        base_rate=base,
        uncertainty=uncertainty,
        reliability=math.fsum(reliability) / n,
        resolution=math.fsum(resolution) / n,
        skill=1 - score / uncertainty if uncertainty else None,
        log_score=None if wrong else math.fsum(losses) / n,
        certain_and_wrong=wrong,
    )


def in_bins(forecasts: Sequence[Forecast]) -> list[list[Forecast]]:
    """The forecasts in ten bins of one width; a confidence on an edge belongs to the bin below.

    Empty bins are left out.

    Raises:
        ConfigError: There are no forecasts, or a value is not from 0 to 1.

    >>> rows = [Forecast(0.8, 1.0), Forecast(0.3, 0.0), Forecast(0.8, 0.0), Forecast(0.75, 1.0)]
    >>> [[forecast.confidence for forecast in row] for row in in_bins(rows)]
    [[0.3], [0.75, 0.8, 0.8]]
    """
    _check(forecasts)
    return [list(row) for _, row in groupby(_by_confidence(forecasts), key=_bin)]


def calibration_error(rows: Sequence[Sequence[Forecast]]) -> CalibrationError:
    """The expected calibration error of binned forecasts, and its expectation for a perfect forecaster.

    The expectation is exact up to 400 forecasts a bin (the outcomes of a bin are then a sum of independent
    yes and no with the stated chances, whose distribution is counted out) and that of a normal distribution
    beyond. Where partial outcomes count as a half it is a little high.

    Args:
        rows: The forecasts, in bins.

    >>> rows = [[Forecast(0.5, 1.0)], [Forecast(0.9, 1.0)]]
    >>> error = calibration_error(rows)
    >>> round(error.value, 6), round(error.expected, 6)
    (0.3, 0.34)
    """
    n = sum(map(len, rows))
    distances = [abs(math.fsum(forecast.confidence - forecast.outcome for forecast in row)) for row in rows]
    spreads = [_perfect([forecast.confidence for forecast in row]) for row in rows]
    expected = math.fsum(mean for mean, _ in spreads) / n
    deviation = math.sqrt(math.fsum(variance for _, variance in spreads)) / n
    return CalibrationError(
        value=math.fsum(distances) / n,
        largest=max(distance / len(row) for distance, row in zip(distances, rows, strict=True)),
        expected=expected,
        usual_below=min(expected + _ONE_SIDED * deviation, 1.0),
    )


def _check(forecasts: Sequence[Forecast]) -> None:
    if not forecasts:
        raise ConfigError("no forecasts: nothing was stated, or nothing is known of how it turned out")
    for place, forecast in enumerate(forecasts):
        if not (0 <= forecast.confidence <= 1 and 0 <= forecast.outcome <= 1):
            raise ConfigError(f"forecasts[{place}] = {tuple(forecast)!r}: expected numbers from 0 to 1")


def _by_confidence(forecasts: Sequence[Forecast]) -> list[Forecast]:
    return sorted(forecasts, key=attrgetter("confidence"))


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


def _bin(forecast: Forecast) -> int:
    return bisect_left(_EDGES, forecast.confidence)


def _reliability(row: Sequence[Forecast]) -> ReliabilityBin:
    place, hits = _bin(row[0]), math.fsum(forecast.outcome for forecast in row)
    # A partial outcome counts for both ends.
    least, most = (Rate(hits=ends, total=len(row)) for ends in (math.floor(hits), math.ceil(hits)))
    return ReliabilityBin(
        low=place / _BINS,
        high=(place + 1) / _BINS,
        n=len(row),
        mean_confidence=math.fsum(forecast.confidence for forecast in row) / len(row),
        rate=hits / len(row),
        interval=(least.interval[0], most.interval[1]),
    )


def _perfect(chances: Sequence[float]) -> tuple[float, float]:
    """Mean and variance of the distance between the sum of the chances and how often it happens."""
    variance = math.fsum(chance * (1 - chance) for chance in chances)
    if len(chances) > _EXACT:
        mean = math.sqrt(2 * variance / math.pi)
    else:
        centre = math.fsum(chances)
        mean = math.fsum(abs(times - centre) * p for times, p in enumerate(_distribution(chances)))
    return mean, max(variance - mean * mean, 0.0)


def _distribution(chances: Sequence[float]) -> list[float]:
    """Returns the probability of each number of successes, from 0 to all."""
    weights = [1.0]
    for chance in chances:
        longer = [p * (1 - chance) for p in weights] + [0.0]
        for times, p in enumerate(weights):
            longer[times + 1] += p * chance
        weights = longer
    return weights
