"""Reliability: of what was said with the same confidence, how much turned out right?

Source: decision quality gate (clause Q18). Bins as in A. Niculescu-Mizil and R. Caruana, "Predicting good
probabilities with supervised learning" (ICML 2005); the calibration error after M. P. Naeini, G. F. Cooper
and M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning" (AAAI 2015). That it is
above zero for a perfect forecaster too, the more the fewer the forecasts, is why its expectation stands
beside it; J. Broecker and L. A. Smith, "Increasing the reliability of reliability diagrams", Weather and
Forecasting 22 (2007), ask the same of each bin.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from ebbtide.codec import Record, Rounded
from ebbtide.decision_log.calibration.brier import Forecast, check
from ebbtide.errors import ConfigError
from ebbtide.rate import Rate

_EXACT = 400  # forecasts of a bin up to which the spread of a perfect forecaster is counted, not approximated
_ONE_SIDED = 1.644854  # 95 %


class Binning(StrEnum):
    """The binning of confidences."""

    WIDTH = "width"  #: bins of one width; a confidence on an edge belongs to the bin below
    COUNT = "count"  #: bins of about one count; equal confidences stay together
    DISTINCT = "distinct"  #: one bin for each confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin(Record):
    """The forecasts with about one confidence.

    Args:
        low: Lower edge; for bins of one count and for distinct ones the lowest confidence.
        high: Upper edge, or the highest confidence.
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

    @property
    def gap(self) -> float:
        """Mean confidence less rate; positive is overconfident."""
        return self.mean_confidence - self.rate

    @property
    def covers(self) -> bool:
        """True where the interval of the rate holds the mean confidence."""
        return self.interval[0] <= self.mean_confidence <= self.interval[1]


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

    @property
    def is_chance(self) -> bool:
        """True where a perfectly calibrated forecaster would usually show as much."""
        return self.value <= self.usual_below


def split(
    forecasts: Sequence[Forecast], binning: Binning = Binning.WIDTH, bins: int = 10
) -> list[list[Forecast]]:
    """The forecasts in bins of rising confidence; empty bins are left out.

    Args:
        forecasts: At least one.
        binning: How.
        bins: How many at most; distinct bins are as many as there are.

    Raises:
        ConfigError: `bins` is below 1, there are no forecasts, or a value is not from 0 to 1.

    >>> rows = [Forecast(0.8, 1.0), Forecast(0.3, 0.0), Forecast(0.8, 0.0), Forecast(0.75, 1.0)]
    >>> [[forecast.confidence for forecast in row] for row in split(rows)]
    [[0.3], [0.75, 0.8, 0.8]]
    """
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise ConfigError(f"bins = {bins!r}: expected a whole number, 1 or more")
    check(forecasts)
    by_confidence = sorted(forecasts, key=lambda forecast: forecast.confidence)
    edges = [edge / bins for edge in range(1, bins)]
    rows: dict[float, list[Forecast]] = {}
    key, size = 0.0, 0
    for place, forecast in enumerate(by_confidence):
        if binning is Binning.WIDTH:
            key = bisect_left(edges, forecast.confidence)
        elif binning is Binning.DISTINCT:
            key = forecast.confidence
        elif place and forecast.confidence != by_confidence[place - 1].confidence:
            # The bin is full where the forecasts before this one are its share of all.
            key = place * bins // len(by_confidence) if size * bins >= len(by_confidence) else key
            size = size if key in rows else 0
        rows.setdefault(key, []).append(forecast)
        size += 1
    return list(rows.values())


def reliability_bins(
    forecasts: Sequence[Forecast], binning: Binning = Binning.WIDTH, bins: int = 10
) -> tuple[ReliabilityBin, ...]:
    """Returns the bins with their outcomes; empty bins are absent.

    Args:
        forecasts: At least one.
        binning: How they are put together.
        bins: How many bins at most.

    Raises:
        ConfigError: `bins` is below 1, there are no forecasts, or a value is not from 0 to 1.
    """
    return tuple(_bin(row, binning, bins) for row in split(forecasts, binning, bins))


def _bin(row: Sequence[Forecast], binning: Binning, bins: int) -> ReliabilityBin:
    low, high = row[0].confidence, row[-1].confidence
    if binning is Binning.WIDTH:
        place = bisect_left([edge / bins for edge in range(1, bins)], low)
        low, high = place / bins, (place + 1) / bins
    hits = math.fsum(forecast.outcome for forecast in row)
    # A partial outcome counts for both ends.
    least, most = (Rate(hits=ends, total=len(row)) for ends in (math.floor(hits), math.ceil(hits)))
    return ReliabilityBin(
        low=low,
        high=high,
        n=len(row),
        mean_confidence=math.fsum(forecast.confidence for forecast in row) / len(row),
        rate=hits / len(row),
        interval=(least.interval[0], most.interval[1]),
    )


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
