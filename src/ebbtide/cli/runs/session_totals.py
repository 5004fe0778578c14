"""What sessions came to, together and by day, project and agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ebbtide.cli.runs.machine_sessions import SessionPart
from ebbtide.supervision.summary.headline import Course
from ebbtide.supervision.summary.run_summary import RunSummary

_Number = TypeVar("_Number", int, float)
_Key = TypeVar("_Key", str, str | None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRun:
    """One file of a session, checked.

    Args:
        part: The file.
        summary: What became of it.
    """

    part: SessionPart
    summary: RunSummary

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON, with the session that it is of."""
        session = {
            "agent": self.part.file.agent.value,
            "id": self.part.session,
            "project": self.part.project,
            "day": self.part.day,
            "is_main": self.part.is_main,
            "wasted_usd": wasted_usd(self.summary),
            "avoidable_usd": avoidable_usd(self.summary),
        }
        return {**self.summary.to_dict(), "session": session}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTotals:
    """What some sessions came to.

    Args:
        sessions: How many.
        runs: Files that were checked; sub-agents have their own.
        cost_usd: Dollars, as far as known; None where no cost is known.
        unknown_cost: Sessions of which no cost is known although a model was called.
        is_partial: Whether the others cost more: calls have no known price, or state too few tokens.
        tokens: Of all classes; None where none are known.
        wasted_usd: Dollars that bought nothing, as far as known; None where that is not known of any session.
        avoidable_usd: Dollars that bought something that could have been had for less, likewise.
    """

    sessions: int
    runs: int
    cost_usd: float | None
    unknown_cost: int
    is_partial: bool
    tokens: int | None
    wasted_usd: float | None
    avoidable_usd: float | None

    @classmethod
    def of(cls, runs: Sequence[SessionRun]) -> SessionTotals:
        """The totals of some runs."""
        spent = [run.summary.spent for run in runs]
        by_session = grouped(runs, lambda run: f"{run.part.file.agent} {run.part.session}")
        return cls(
            sessions=len(by_session),
            runs=len(runs),
            cost_usd=_sum(item.cost_usd for item in spent),
            unknown_cost=sum(map(_is_unknown, by_session.values())),
            is_partial=any(
                run.summary.spent.unpriced or run.summary.bill.is_least
                for run in runs
                if run.summary.spent.cost_usd is not None
            ),
            tokens=_sum(item.tokens.total for item in spent),
            wasted_usd=_sum(wasted_usd(run.summary) for run in runs),
            avoidable_usd=_sum(avoidable_usd(run.summary) for run in runs),
        )

    def to_dict(self) -> dict[str, Any]:
        """The wire form; null is unknown."""
        return {
            "sessions": self.sessions,
            "runs": self.runs,
            "cost_usd": self.cost_usd,
            "sessions_of_unknown_cost": self.unknown_cost,
            "cost_is_partial": self.is_partial,
            "tokens": self.tokens,
            "wasted_usd": self.wasted_usd,
            "avoidable_usd": self.avoidable_usd,
        }


def wasted_usd(summary: RunSummary) -> float | None:
    """Dollars of a run that bought nothing; None where that cannot be told."""
    return None if summary.course is Course.UNKNOWN else summary.bill.wasted.cost_usd


def avoidable_usd(summary: RunSummary) -> float | None:
    """Dollars of a run that could have been saved, beside what bought nothing; None where that is unknown."""
    return None if summary.course is Course.UNKNOWN else summary.bill.avoidable.cost_usd


def why(summary: RunSummary) -> str:
    """A run in one sentence: what went wrong, or else where its money went."""
    went_well = summary.course is Course.HEALTHY and not summary.verdict.ends
    return (summary.bill.sentence if went_well else "") or summary.reason


def grouped(runs: Iterable[SessionRun], key: Callable[[SessionRun], _Key]) -> dict[_Key, list[SessionRun]]:
    """Runs by a key, in the order in which the keys come up."""
    groups: dict[_Key, list[SessionRun]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return groups


def _is_unknown(runs: Iterable[SessionRun]) -> bool:
    spent = [run.summary.spent for run in runs]
    return all(item.cost_usd is None for item in spent) and any(item.llm_calls for item in spent)


def _sum(amounts: Iterable[_Number | None]) -> _Number | None:
    numbers = [amount for amount in amounts if amount is not None]
    return sum(numbers) if numbers else None
