"""One row of the screen of this machine's sessions: what one file of a session came to."""

from __future__ import annotations

from typing import Any

import msgspec

from ebbtide.cli.runs.run_screen import word_style
from ebbtide.report import wording
from ebbtide.supervision.summary.headline import Course
from ebbtide.supervision.summary.idle_sessions import SessionSpan
from ebbtide.supervision.summary.run_summary import RunSummary


class SessionRow(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A row of the screen, and by what it is sorted.

    Args:
        source: The file, by the name that may be shown.
        cost: Its cost in words.
        cost_usd: The same in dollars; None where it is not known.
        wasted_usd: Dollars that bought nothing; None where that is not known.
        avoidable_usd: Dollars that could have been saved beside them, likewise.
        verdict: Its headline.
        style: The style of that.
        why: One sentence: what went wrong, or else where its money went.
        badness: What is smaller comes first, among those of one saving.
        ignored: Findings that were left out since somebody wants it so.
        span: What a loop over sessions depends on.
    """

    source: str
    cost: str
    cost_usd: float | None
    wasted_usd: float | None
    avoidable_usd: float | None
    verdict: str
    style: str
    why: str
    badness: tuple[float, int, int, float, int, str]
    ignored: int
    span: SessionSpan

    @classmethod
    def of(cls, summary: RunSummary) -> SessionRow:
        """The row of a run."""
        went_well = summary.course is Course.HEALTHY and not summary.verdict.ends
        return cls(
            source=summary.source,
            cost="?" if summary.spent.cost_usd is None else wording.cost(summary.spent),
            cost_usd=summary.spent.cost_usd,
            wasted_usd=wasted_usd(summary),
            avoidable_usd=avoidable_usd(summary),
            verdict=summary.words,
            style=word_style(summary),
            why=(summary.bill.sentence if went_well else "") or summary.reason,
            badness=wording.badness(summary),
            ignored=summary.ignored,
            span=SessionSpan.of(summary),
        )

    @property
    def order(self) -> tuple[Any, ...]:
        """Key of the order of rows, the smallest first: the saving, then the need."""
        return (-((self.wasted_usd or 0.0) + (self.avoidable_usd or 0.0)), *self.badness)


def wasted_usd(summary: RunSummary) -> float | None:
    """Dollars of a run that bought nothing; None where that is not known."""
    return None if summary.course is Course.UNKNOWN else summary.bill.wasted.cost_usd


def avoidable_usd(summary: RunSummary) -> float | None:
    """Dollars of a run that could have been saved, beside what bought nothing; None where that is unknown."""
    return None if summary.course is Course.UNKNOWN else summary.bill.avoidable.cost_usd
