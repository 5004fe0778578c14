"""Calibration of decisions: how well the stated confidence foretells the outcome, as a whole and in parts.

Source: decision quality gate (clause Q18).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.decision_log.calibration.brier import Brier, Forecast, read_brier
from ebbtide.decision_log.calibration.drift import Drift, find_drift
from ebbtide.decision_log.calibration.eligibility import Eligibility, Exclusion, PartialPolicy, forecast_of
from ebbtide.decision_log.calibration.reliability import (
    Binning,
    CalibrationError,
    ReliabilityBin,
    calibration_error,
    reliability_bins,
    split,
)
from ebbtide.decision_log.record import Decision
from ebbtide.errors import ConfigError

#: Forecasts under which nothing is said of a category or an agent: a perfect forecaster shows an error of 0.2
#: at 20.
LEAST = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What forecasts are worth.

    Args:
        brier: The score and its parts, with one bin for each distinct confidence.
        bins: What happened to the forecasts of each bin.
        error: The calibration error over these bins.
    """

    brier: Brier
    bins: tuple[ReliabilityBin, ...]
    error: CalibrationError

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "brier": self.brier.to_dict(),
            "calibration_error": self.error.to_dict(),
            "bins": [row.to_dict() for row in self.bins],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupScores:
    """The forecasts of one category or agent.

    Args:
        name: Of the category or agent; None for the decisions without one.
        n: Forecasts.
        scores: None where there are too few to say anything.
    """

    name: str | None
    n: int
    scores: Scores | None

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "name": self.name,
            "n": self.n,
            "scores": None if self.scores is None else self.scores.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How well the confidence of decisions foretold how they turned out.

    What was reviewed is no random sample of what was decided: what went wrong is looked at more often.

    Args:
        decisions: All that were looked at.
        n: Those that count.
        excluded: Why the others do not, with their number, in the order of the reasons.
        partial: What a partial outcome counts as.
        binning: How the bins were made.
        scores: None where nothing counts.
        drift: Whether the errors changed with time; None under 30, or where all are equal.
        by_category: Each category, the largest first.
        by_agent: Each agent, the largest first.
        least: Forecasts under which nothing is said of a group.
    """

    decisions: int
    n: int
    excluded: tuple[tuple[Exclusion, int], ...]
    partial: PartialPolicy
    binning: Binning
    scores: Scores | None
    drift: Drift | None
    by_category: tuple[GroupScores, ...]
    by_agent: tuple[GroupScores, ...]
    least: int = LEAST

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "schema": 1,
            "decisions": self.decisions,
            "n": self.n,
            "excluded": {reason.value: count for reason, count in self.excluded},
            "partial": self.partial.value,
            "binning": self.binning.value,
            "scores": None if self.scores is None else self.scores.to_dict(),
            "drift": None if self.drift is None else self.drift.to_dict(),
            "by_category": [group.to_dict() for group in self.by_category],
            "by_agent": [group.to_dict() for group in self.by_agent],
            "least": self.least,
        }


def score_forecasts(
    forecasts: Sequence[Forecast], *, binning: Binning = Binning.WIDTH, bins: int = 10
) -> Scores:
    """What forecasts are worth, wherever they come from.

    Args:
        forecasts: At least one.
        binning: How they are put together for the reliability.
        bins: How many bins at most.

    Raises:
        ConfigError: `bins` is below 1, there are no forecasts, or a value is not from 0 to 1.
    """
    return Scores(
        brier=read_brier(split(forecasts, Binning.DISTINCT)),
        bins=reliability_bins(forecasts, binning, bins),
        error=calibration_error(split(forecasts, binning, bins)),
    )


def calibrate_decisions(
    decisions: Iterable[Decision],
    *,
    eligibility: Eligibility | None = None,
    binning: Binning = Binning.WIDTH,
    bins: int = 10,
    least: int = LEAST,
    drift_below: float = 0.01,
) -> Calibration:
    """How well the confidence of decisions foretold how they turned out.

    Args:
        decisions: Any; those that say nothing of confidence are counted by reason.
        eligibility: What counts; None is the default, stated confidence and attested or observed outcomes.
        binning: How confidences are put together.
        bins: How many bins at most.
        least: Forecasts under which nothing is said of a category or an agent.
        drift_below: The p-value under which the errors changed with time.

    Raises:
        ConfigError: `bins` or `least` is below 1.
    """
    if isinstance(least, bool) or not isinstance(least, int) or least < 1:
        raise ConfigError(f"least = {least!r}: expected a whole number, 1 or more")
    rules = eligibility or Eligibility()
    exclusions: Counter[Exclusion] = Counter()
    forecasts_of: list[tuple[Decision, Forecast]] = []
    for decision in decisions:
        forecast = forecast_of(decision, rules)
        if isinstance(forecast, Exclusion):
            exclusions[forecast] += 1
        else:
            forecasts_of.append((decision, forecast))
    forecasts = [forecast for _, forecast in forecasts_of]

    def score(rows: Sequence[Forecast]) -> Scores | None:
        return score_forecasts(rows, binning=binning, bins=bins) if rows else None

    def group_by(names: Iterable[str | None]) -> tuple[GroupScores, ...]:
        groups: dict[str | None, list[Forecast]] = {}
        for name, forecast in zip(names, forecasts, strict=True):
            groups.setdefault(name, []).append(forecast)
        rows_of_groups = [
            GroupScores(name=name, n=len(rows), scores=score(rows) if len(rows) >= least else None)
            for name, rows in groups.items()
        ]
        return tuple(sorted(rows_of_groups, key=lambda group: (-group.n, group.name or "")))

    return Calibration(
        decisions=len(forecasts_of) + exclusions.total(),
        n=len(forecasts_of),
        excluded=tuple((reason, exclusions[reason]) for reason in Exclusion if exclusions[reason]),
        partial=rules.partial,
        binning=binning,
        scores=score(forecasts),
        drift=find_drift(forecasts, below=drift_below),
        by_category=group_by(decision.candidate.category for decision, _ in forecasts_of),
        by_agent=group_by(decision.scope.agent for decision, _ in forecasts_of),
        least=least,
    )
