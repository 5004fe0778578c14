"""Answers of a deliberation: the verdict on a candidate, and the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from ebbtide.codec import Record
from ebbtide.decision_log.record.record import Mode
from ebbtide.decision_log.record.wire import WireDecision
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict


class DecisionVerdict(StrEnum):
    """The verdict on a candidate."""

    OPENED = "opened"  #: it is being thought about
    KEPT = "kept"
    QUARANTINED = "quarantined"  #: the gate refused it; `DecisionLog.restore` brings it back
    DUPLICATE = "duplicate"  #: it was decided already, in the window
    NOT_CAPTURED = "not_captured"  #: in this frame nothing is recorded, unless somebody does so explicitly


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionAnswer(Record):
    """The verdict on a candidate, and the reason.

    Args:
        verdict: What became of it.
        mode: What the gate was allowed to do.
        decision: Its record, as it is now: also one in quarantine. None where it has none.
        assessment: What speaks against it and for it, also where that changed nothing; None where nothing
            was asked.
        duplicate: What it is to the earlier decisions of the window; None where that was not asked.
        degraded: Why the gate could not be asked, so that the candidate was kept; None where it could.
    """

    _WIRE: ClassVar = "verdict id kept mode reason assessment duplicate reversals degraded decision"
    _SCHEMA: ClassVar = 1

    verdict: DecisionVerdict
    mode: Mode
    decision: WireDecision | None = None
    assessment: Assessment | None = None
    duplicate: DuplicateVerdict | None = None
    degraded: str | None = None

    @property
    def id(self) -> str | None:
        """The id of its record; None where it has none."""
        return None if self.decision is None else self.decision.id

    @property
    def kept(self) -> bool:
        """True where it is in the log, or being thought about."""
        return self.verdict in {DecisionVerdict.OPENED, DecisionVerdict.KEPT}

    @property
    def reason(self) -> str | None:
        """The objection to it, in one sentence; None where nothing does. It may be kept all the same."""
        if self.verdict is DecisionVerdict.NOT_CAPTURED:
            return "nothing is recorded in this frame; record_decision works in any frame"
        return None if self.assessment is None else self.assessment.reason

    @property
    def reversals(self) -> tuple[str, ...]:
        """Ids of earlier decisions that it may reverse: does it supersede them?"""
        earlier = None if self.duplicate is None else self.duplicate.may_reverse
        return () if earlier is None else (earlier,)
