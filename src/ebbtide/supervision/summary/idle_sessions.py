"""Loops over sessions: a program starts an agent again and again with one request, and nothing is done.

No session shows such a loop by itself. What sets one apart from a job on a schedule is that each session
begins as soon as the one before has ended; what sets one apart from work in many small steps is that no call
of a session changed anything, or may have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ebbtide.profile.supervision import IgnoreRules
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.summary.run_summary import RunFinding, RunSummary

KIND: Final = "idle_sessions"  #: of the finding
_ADVICE: Final = "End the program that starts them, or change what it asks for."
_FEWEST: Final = 4  # sessions; three are a check that is satisfied after some rounds
_SOON_S: Final = 60.0  # from the end of one to the beginning of the next: who types takes longer, as a rule


class SessionSpan(NamedTuple):
    """A session as far as a loop over sessions depends on it.

    Args:
        source: The file, by the name that may be shown.
        project: The folder that its agent worked in; None where that is not recorded, and for a run that
            an agent of another run started.
        title: The first request in one line; empty where it is not recorded.
        began_s: Time of its first event; None where no event has a time.
        ended_s: Likewise of its latest.
        deeds: Calls that changed something, or may have; None where the arguments of most are not recorded.
        cost_usd: Dollars; None where they are not known.
    """

    source: str
    project: str | None
    title: str
    began_s: float | None
    ended_s: float | None
    deeds: int | None
    cost_usd: float | None

    @classmethod
    def of(cls, summary: RunSummary) -> SessionSpan:
        """Returns the span of a run."""
        return cls(
            source=summary.source,
            project=summary.project if summary.parent is None else None,
            title=summary.title,
            began_s=summary.began_s,
            ended_s=summary.ended_s,
            deeds=None if summary.facts.coverage.lacks_arguments else summary.facts.deeds,
            cost_usd=summary.spent.cost_usd,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleSessions:
    """Sessions in a row that did nothing.

    Args:
        title: The request of each.
        project: The folder that they worked in.
        first: The file of the first.
        last: The file of the latest.
        cost_usd: Dollars, as far as they are known; None where they are known of none.
    """

    sessions: int
    title: str
    project: str
    first: str
    last: str
    cost_usd: float | None

    @property
    def sentence(self) -> str:
        """Says that the sessions did nothing, and names the remedy."""
        return (
            f"{self.sessions:,} sessions in a row did nothing: each began with “{self.title}” as soon as "
            f"the previous session had ended. {_ADVICE}"
        )


def idle_sessions(spans: Iterable[SessionSpan]) -> list[IdleSessions]:
    """Returns the loops over some sessions, in the order in which they began."""
    return [_loop(row) for row in _rows(spans)]


def with_idle_sessions(summaries: Sequence[RunSummary], ignored: IgnoreRules) -> list[RunSummary]:
    """Returns the summaries; those that go on with a loop over sessions have a finding that says so.

    Args:
        ignored: Findings that are not to be reported.
    """
    if ignored.covers(KIND):
        return list(summaries)
    numbers = {
        span.source: number
        for row in _rows(map(SessionSpan.of, summaries))
        for number, span in enumerate(row, 1)
        if number >= _FEWEST
    }
    return [_with_finding(summary, numbers.get(summary.source)) for summary in summaries]


def _with_finding(summary: RunSummary, number: int | None) -> RunSummary:
    if number is None:
        return summary
    spent = summary.spent
    finding = RunFinding(
        id=KIND,
        kind=KIND,
        action=Action.ESCALATE,
        cause=Cause.DIVERGENCE,
        sentence=(
            f"session {number:,} in a row that did nothing, each begun as soon as the previous "
            "session had ended"
        ),
        advice=_ADVICE,
        first_event=1,
        last_event=max(spent.events, 1),
        copies=number,
        cost_usd=spent.cost_usd,
        tokens=spent.tokens.total,
        seconds=spent.seconds,
    )
    reason = f"{finding.sentence}." if summary.verdict.action is Action.ALLOW else summary.reason
    return dataclasses.replace(summary, findings=(finding, *summary.findings), reason=reason)


def _rows(spans: Iterable[SessionSpan]) -> list[list[SessionSpan]]:
    """Returns the sessions of each loop."""
    by_project: dict[str, list[tuple[float, SessionSpan]]] = {}
    for span in spans:
        if span.project is not None and span.began_s is not None:
            by_project.setdefault(span.project, []).append((span.began_s, span))
    series: list[list[SessionSpan]] = []
    for dated in by_project.values():
        row: list[SessionSpan] = []
        for _, span in sorted(dated, key=lambda item: (item[0], item[1].source)):
            is_idle = span.deeds == 0 and span.title != ""
            if row and not (is_idle and _goes_on(row[-1], span)):
                series.append(row)
                row = []
            if is_idle:
                row.append(span)
        series.append(row)
    return sorted((row for row in series if len(row) >= _FEWEST), key=lambda row: row[0].began_s or 0.0)


def _goes_on(before: SessionSpan, span: SessionSpan) -> bool:
    if before.ended_s is None or span.began_s is None or span.title != before.title:
        return False
    return -_SOON_S <= span.began_s - before.ended_s <= _SOON_S


def _loop(row: list[SessionSpan]) -> IdleSessions:
    costs = [span.cost_usd for span in row if span.cost_usd is not None]
    return IdleSessions(
        sessions=len(row),
        title=row[0].title,
        project=row[0].project or "",
        first=row[0].source,
        last=row[-1].source,
        cost_usd=sum(costs) if costs else None,
    )
