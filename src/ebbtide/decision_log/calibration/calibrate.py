"""Calibration of decisions: how well the stated confidence foretells the outcome, as a whole and in parts.

Source: decision quality gate (clause Q18).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from operator import itemgetter
from typing import Annotated, ClassVar

from ebbtide.codec import As, Record, Rounded
from ebbtide.decision_log.calibration.brier import Brier, Forecast, read_brier, squared_error
from ebbtide.decision_log.calibration.reliability import (
    Binning,
    CalibrationError,
    ReliabilityBin,
    calibration_error,
    reliability_bins,
    split,
)
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, Status
from ebbtide.decision_log.record.review import Basis, resolve
from ebbtide.decisions.candidate import Candidate, ConfidenceSource
from ebbtide.errors import ConfigError

#: Forecasts under which nothing is said of a category or an agent: a perfect forecaster shows an error of 0.2
#: at 20.
LEAST = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores(Record):
    """Scores of forecasts.

    Args:
        brier: The score and its parts, with one bin for each distinct confidence.
        bins: What happened to the forecasts of each bin.
        error: The calibration error over these bins.
    """

    _WIRE: ClassVar = "brier calibration_error=error bins"

    brier: Brier
    bins: tuple[ReliabilityBin, ...]
    error: CalibrationError


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


class Exclusion(StrEnum):
    """Reasons why a decision does not count; the first that holds, in this order."""

    OPENED = "opened"  #: still being thought about
    ABANDONED = "abandoned"  #: never taken; that is a status, not an outcome
    QUARANTINED = "quarantined"  #: refused
    PURGED = "purged"
    NO_CONFIDENCE = "no_confidence"
    DEFAULT_CONFIDENCE = "default_confidence"  #: nobody thought about it
    DERIVED_CONFIDENCE = "derived_confidence"  #: computed from something else
    NO_OUTCOME = "no_outcome"  #: nobody looked
    CONFLICT = "conflict"  #: signals contradict each other, and no person has looked
    INFERRED = "inferred"  #: nobody saw it, a signal only concluded it
    UNKNOWN = "unknown"  #: somebody looked and could not tell
    NOT_A_DECISION = "not_a_decision"
    PARTIAL = "partial"  #: left out by the policy


# An object on the wire.
_Counts = Annotated[
    tuple[tuple[Exclusion, int], ...],
    As(lambda counts: {reason.value: count for reason, count in counts}, lambda table: tuple(table.items())),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Record):
    """Calibration of the stated confidence of decisions against their outcomes.

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

    _SCHEMA: ClassVar = 1

    decisions: int
    n: int
    excluded: _Counts
    partial: PartialPolicy
    binning: Binning
    scores: Scores | None
    drift: Drift | None
    by_category: tuple[GroupScores, ...]
    by_agent: tuple[GroupScores, ...]
    least: int = LEAST


def score_forecasts(
    forecasts: Sequence[Forecast], *, binning: Binning = Binning.WIDTH, bins: int = 10
) -> Scores:
    """Scores forecasts, wherever they come from.

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
    """Calibration of the stated confidence of decisions against their outcomes.

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


_LEAST = 30  # forecasts under which the test is not made
_TERMS = 50  # of the series of the distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift(Record):
    """A test that the squared errors of forecasts in time have one mean.

    It says that the error changed, not why: the agent, its confidence or its work may have.

    Args:
        n: Forecasts.
        p_value: How probable so large a change is where there is none. It is computed for many forecasts;
            for few it is too large rather than too small.
        place: Forecasts before the change, if there is one.
        ts: When the first forecast after it was made, seconds since the epoch.
        before: Mean squared error before it.
        after: Mean squared error from there on.
        below: The p-value under which there is a change.
    """

    _WIRE: ClassVar = "n changed worse p_value threshold=below place ts before after"

    n: int
    p_value: Rounded
    place: int
    ts: float
    before: Rounded
    after: Rounded
    below: float

    @property
    def changed(self) -> bool:
        """True where chance is no good explanation."""
        return self.p_value < self.below

    @property
    def worse(self) -> bool:
        """True where there is a change, and the error is larger after it."""
        return self.changed and self.after > self.before


def find_drift(forecasts: Sequence[Forecast], *, below: float = 0.01) -> Drift | None:
    """Tests the squared errors for a change, and finds its place.

    Args:
        forecasts: In any order; their times order them, and those without one are left out.
        below: The p-value under which there is a change, 0 to 1.

    Returns:
        None under 30 forecasts, or where all errors are equal.
    """
    dated = [(forecast.ts, forecast) for forecast in forecasts if forecast.ts is not None]
    by_time = sorted(dated, key=itemgetter(0))
    errors = [squared_error(forecast) for _, forecast in by_time]
    n = len(errors)
    if n < _LEAST:
        return None
    mean = math.fsum(errors) / n
    deviation = math.sqrt(math.fsum((error - mean) ** 2 for error in errors) / n)
    if deviation < 1e-12:
        return None
    sums = list(accumulate(error - mean for error in errors))[:-1]
    place = max(range(n - 1), key=lambda at: abs(sums[at])) + 1
    return Drift(
        n=n,
        p_value=_bridge(abs(sums[place - 1]) / (deviation * math.sqrt(n))),
        place=place,
        ts=by_time[place][0],
        before=math.fsum(errors[:place]) / place,
        after=math.fsum(errors[place:]) / (n - place),
        below=below,
    )


def _bridge(height: float) -> float:
    """Returns the probability that a Brownian bridge goes further than that from zero."""
    if height < 0.2:
        return 1.0  # the series converges slowly there, and its sum is 1 to 12 digits
    terms = ((-1) ** (at - 1) * math.exp(-2 * (at * height) ** 2) for at in range(1, _TERMS))
    return min(max(2 * math.fsum(terms), 0.0), 1.0)


class PartialPolicy(StrEnum):
    """The value of a partial outcome."""

    HALF = "half"  #: half a success
    EXCLUDE = "exclude"  #: nothing: the strict score knows right and wrong only


_BY_STATUS = {
    Status.OPENED: Exclusion.OPENED,
    Status.ABANDONED: Exclusion.ABANDONED,
    Status.QUARANTINED: Exclusion.QUARANTINED,
    Status.PURGED: Exclusion.PURGED,
}
_BY_OUTCOME = {
    DecisionOutcome.UNKNOWN: Exclusion.UNKNOWN,
    DecisionOutcome.NOT_A_DECISION: Exclusion.NOT_A_DECISION,
}
_WORTH = {DecisionOutcome.SUCCESS: 1.0, DecisionOutcome.PARTIAL: 0.5, DecisionOutcome.FAILURE: 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """The decisions that count.

    Args:
        partial: What a partial outcome counts as.
        sources: Where a confidence may come from; by default it has to be stated.
        bases: What an outcome may rest on; by default it has to be attested or observed.
    """

    partial: PartialPolicy = PartialPolicy.HALF
    sources: Collection[ConfidenceSource] = (ConfidenceSource.STATED,)
    bases: Collection[Basis] = (Basis.ATTESTED, Basis.OBSERVED)


def confidence_source(candidate: Candidate) -> ConfidenceSource | None:
    """Returns the source of the confidence; unstated, exactly 0.5 is the default and the rest is stated."""
    if candidate.confidence is None:
        return None
    if candidate.confidence_source is not None:
        return candidate.confidence_source
    return ConfidenceSource.DEFAULT if candidate.confidence == 0.5 else ConfidenceSource.STATED


def forecast_of(decision: Decision, eligibility: Eligibility) -> Forecast | Exclusion:
    """Returns the forecast of a decision, or the reason why it has none.

    Args:
        decision: With its reviews.
        eligibility: What counts.
    """
    candidate = decision.candidate
    exclusion = _BY_STATUS.get(decision.status) or _confidence(candidate, eligibility)
    if exclusion is not None or candidate.confidence is None:
        return exclusion or Exclusion.NO_CONFIDENCE
    resolution = resolve(decision.reviews)
    if resolution.outcome is None or resolution.basis is None:
        return Exclusion.CONFLICT if resolution.conflict else Exclusion.NO_OUTCOME
    if resolution.basis not in eligibility.bases:
        return Exclusion.INFERRED
    if resolution.outcome in _BY_OUTCOME:
        return _BY_OUTCOME[resolution.outcome]
    if resolution.outcome is DecisionOutcome.PARTIAL and eligibility.partial is PartialPolicy.EXCLUDE:
        return Exclusion.PARTIAL
    ts = decision.opened_at if decision.settled_at is None else decision.settled_at
    return Forecast(float(candidate.confidence), _WORTH[resolution.outcome], ts)


def _confidence(candidate: Candidate, eligibility: Eligibility) -> Exclusion | None:
    source = confidence_source(candidate)
    if source is None:
        return Exclusion.NO_CONFIDENCE
    if source in eligibility.sources:
        return None
    derived = source is ConfidenceSource.DERIVED
    return Exclusion.DERIVED_CONFIDENCE if derived else Exclusion.DEFAULT_CONFIDENCE
