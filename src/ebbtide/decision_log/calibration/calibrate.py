"""Calibration of decisions: how well the stated confidence foretells the outcome, as a whole and in parts.

Source: decision quality gate (clause Q18).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from ebbtide.codec import As, Record
from ebbtide.decision_log.calibration.scores import Forecast, Scores, score_forecasts
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, Status
from ebbtide.decision_log.record.review import Basis, resolve
from ebbtide.decisions.candidate import ConfidenceSource

#: Forecasts under which nothing is said of a category or an agent: a perfect forecaster shows an error of 0.2
#: at 20.
LEAST = 30


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
        scores: None where nothing counts.
        by_category: Each category, the largest first.
        by_agent: Each agent, the largest first.
        least: Forecasts under which nothing is said of a group.
    """

    _SCHEMA: ClassVar = 1

    decisions: int
    n: int
    excluded: _Counts
    scores: Scores | None
    by_category: tuple[GroupScores, ...]
    by_agent: tuple[GroupScores, ...]
    least: int = LEAST


def calibrate_decisions(decisions: Iterable[Decision]) -> Calibration:
    """Calibration of the stated confidence of decisions against their outcomes.

    Args:
        decisions: Any; those that say nothing of confidence are counted by reason.
    """
    exclusions: Counter[Exclusion] = Counter()
    counted: list[Decision] = []
    forecasts: list[Forecast] = []
    for decision in decisions:
        forecast = forecast_of(decision)
        if isinstance(forecast, Exclusion):
            exclusions[forecast] += 1
        else:
            counted.append(decision)
            forecasts.append(forecast)
    return Calibration(
        decisions=len(forecasts) + exclusions.total(),
        n=len(forecasts),
        excluded=tuple((reason, exclusions[reason]) for reason in Exclusion if exclusions[reason]),
        scores=score_forecasts(forecasts) if forecasts else None,
        by_category=_groups(forecasts, [decision.candidate.category for decision in counted]),
        by_agent=_groups(forecasts, [decision.scope.agent for decision in counted]),
    )


def _groups(forecasts: Sequence[Forecast], names: Sequence[str | None]) -> tuple[GroupScores, ...]:
    groups: dict[str | None, list[Forecast]] = {}
    for name, forecast in zip(names, forecasts, strict=True):
        groups.setdefault(name, []).append(forecast)
    scores = (
        GroupScores(name=name, n=len(rows), scores=score_forecasts(rows) if len(rows) >= LEAST else None)
        for name, rows in groups.items()
    )
    return tuple(sorted(scores, key=lambda group: (-group.n, group.name or "")))


_BY_STATUS = {
    Status.OPENED: Exclusion.OPENED,
    Status.ABANDONED: Exclusion.ABANDONED,
    Status.QUARANTINED: Exclusion.QUARANTINED,
    Status.PURGED: Exclusion.PURGED,
}
_BY_SOURCE = {
    ConfidenceSource.DEFAULT: Exclusion.DEFAULT_CONFIDENCE,
    ConfidenceSource.DERIVED: Exclusion.DERIVED_CONFIDENCE,
}
_BY_OUTCOME = {
    DecisionOutcome.UNKNOWN: Exclusion.UNKNOWN,
    DecisionOutcome.NOT_A_DECISION: Exclusion.NOT_A_DECISION,
}
_WORTH = {DecisionOutcome.SUCCESS: 1.0, DecisionOutcome.PARTIAL: 0.5, DecisionOutcome.FAILURE: 0.0}


def forecast_of(decision: Decision) -> Forecast | Exclusion:
    """Returns the forecast of a decision, or the reason why it has none.

    The confidence has to be stated, and the outcome attested or observed. Where nobody said where a
    confidence came from, exactly 0.5 is the default and everything else is stated.
    """
    if decision.status in _BY_STATUS:
        return _BY_STATUS[decision.status]
    confidence, source = decision.candidate.confidence, decision.candidate.confidence_source
    if confidence is None:
        return Exclusion.NO_CONFIDENCE
    if source is None and confidence == 0.5:
        source = ConfidenceSource.DEFAULT
    if source in _BY_SOURCE:
        return _BY_SOURCE[source]
    resolution = resolve(decision.reviews)
    if resolution.outcome is None:
        return Exclusion.CONFLICT if resolution.conflict else Exclusion.NO_OUTCOME
    if resolution.basis is Basis.INFERRED:
        return Exclusion.INFERRED
    if resolution.outcome in _BY_OUTCOME:
        return _BY_OUTCOME[resolution.outcome]
    return Forecast(float(confidence), _WORTH[resolution.outcome])
