"""One run that the registry has at hand: its supervisor, and what the store and the listener know of it."""

from __future__ import annotations

from typing import Any

from ebbtide.budget.tally import usd
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.run_store import RunStanding, StoredRun
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict


class WatchedRun:
    """One run at hand.

    Args:
        supervisor: Watches it.
        now: When it was heard of, in seconds since 1970.
        revision: How often it had changed.

    Attributes:
        latest: When it was last heard of.
        saved_revision: The revision that the store has.
        has_own_time: Whether its events come with a time of their own.
    """

    __slots__ = ("_report", "has_own_time", "latest", "revision", "saved_revision", "supervisor")

    def __init__(self, supervisor: Supervisor, now: float, revision: int = 0) -> None:
        self.supervisor = supervisor
        self.latest = now
        self.revision = self.saved_revision = revision
        self.has_own_time = False
        self._report: Verdict | None = None  # the latest change

    def standing(self, run_id: str, *, ended: bool = False) -> RunStanding:
        """How it stands."""
        verdict, tally = self.supervisor.verdict(), self.supervisor.tally
        return RunStanding(
            run_id=run_id,
            action=verdict.action,
            kind=verdict.kind,
            reason=verdict.reason,
            events=tally.events,
            cost_usd=usd(tally.cost),
            tokens=tally.tokens,
            latest=self.latest,
            ended=ended,
        )

    def stored(self, run_id: str, *, ended: bool = False) -> StoredRun:
        """It, for a store."""
        return StoredRun(self.standing(run_id, ended=ended), self.revision, self.supervisor.to_bytes())

    def change(self, verdict: Verdict) -> Verdict | None:
        """The verdict, where something else is to be done than before; None where it is the same."""
        before = self._report
        if verdict is before:
            return None
        if verdict.action is Action.ALLOW:
            if before is None or not before.ends:
                return None
            self._report = None
            return verdict
        if before is not None and _matter(before) == _matter(verdict):
            return None
        self._report = verdict
        return verdict

    def answered(self) -> None:
        """A person has answered: what comes now is a change."""
        self._report = None


def _matter(verdict: Verdict) -> tuple[Any, ...]:
    return (verdict.action, verdict.kind, verdict.loop_id, verdict.last_call_made)
