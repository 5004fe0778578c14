"""Reviews and clean-ups in a log, as labels that the gate learns from."""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.decision_log.log.reading import ReadableLog
from ebbtide.decision_log.record.counters import is_decision
from ebbtide.decision_log.record.events import EventKind
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.decisions.assessment import Layer
from ebbtide.decisions.learning.decision_label import DecisionLabel, LabelKind


def labels_of(log: ReadableLog) -> Iterator[DecisionLabel]:
    """A label for each decision of a log that a review, a restoration or a clean-up says something of.

    That the gate refused one by itself says nothing: it would learn its own rules. A duplicate that a
    clean-up took out is a decision all the same, and is passed over.

    Args:
        log: The log, or a view of one.

    Raises:
        StoreError: It cannot be read.
    """
    for decision in log.iterate():
        verdict = is_decision(decision)
        if verdict is None and _was_cleaned_out(log, decision):
            verdict = False
        if verdict is not None and decision.candidate.description.strip():
            yield DecisionLabel(
                text=decision.candidate.description,
                label=LabelKind.DECISION if verdict else LabelKind.NONE,
                document=decision.scope.session or decision.scope.agent,
                place=decision.id,
            )


def _was_cleaned_out(log: ReadableLog, decision: Decision) -> bool:
    """Returns True where somebody carried out a plan that took it for noise."""
    assessment = decision.assessment
    if decision.status is not Status.QUARANTINED or assessment is None or assessment.primary is None:
        return False
    if assessment.primary.layer is not Layer.INFORMATIONAL:
        return False
    return any(event.kind is EventKind.ASSESSED for event in log.events(decision.id))
