"""One run that the registry has at hand: its supervisor, and what the store and the listener know of it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from ebbtide.budget.tally import Tally, usd
from ebbtide.events.event import Event
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.run_store import RunStanding, StoredRun
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

_AGENTS = 2  # that are distinguished: one alone needs no name in its events


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
        has_ended: Whether somebody said so, and nothing came since.
        place: Of its latest event in the log, as in `StoredRun`.
    """

    __slots__ = (
        "_agents",
        "_report",
        "has_ended",
        "has_own_time",
        "latest",
        "place",
        "revision",
        "saved_revision",
        "supervisor",
    )

    def __init__(self, supervisor: Supervisor, now: float, revision: int = 0, place: int = 0) -> None:
        self.supervisor = supervisor
        self.place = place
        self.latest = now
        self.revision = self.saved_revision = revision
        self.has_own_time = False
        self.has_ended = False
        self._report: Verdict | None = None  # the latest change
        self._agents: list[str | None] = []  # whose model was asked for, as far as it matters

    def ask_for(self, agent: str | None) -> None:
        """The model of an agent is called next; None where none is named."""
        if len(self._agents) < _AGENTS and agent not in self._agents:
            self._agents.append(agent)

    def placed(self, event: Event) -> Event:
        """An event with its time and its chain."""
        ts, chain_id = event.ts, event.chain_id
        if ts is None:
            ts = self.latest
        else:
            self.has_own_time = True
        if not chain_id:
            chain_id = self._chain_of(event.agent)
        if ts is event.ts and chain_id is event.chain_id:
            return event
        return replace(event, ts=ts, chain_id=chain_id)

    def _chain_of(self, agent: str | None) -> str:
        """The chain of an event that names none: that of its agent, or of the only one."""
        if agent:
            return agent if self.supervisor.watches(agent) else ""
        if len(self._agents) == _AGENTS and None not in self._agents:
            warnings.warn(
                "several agents of a run were named to before_model, and its events name none: loops in them "
                "end nobody. Give the events agent=",
                RuntimeWarning,
                stacklevel=5,
            )
        return (self._agents[0] or "") if len(self._agents) == 1 else ""

    def standing(self, run_id: str) -> RunStanding:
        """How it stands."""
        return standing_of(
            run_id, self.supervisor.tally, self.supervisor.verdict(), latest=self.latest, ended=self.has_ended
        )

    def stored(self, run_id: str) -> StoredRun:
        """It, for a store."""
        return StoredRun(self.standing(run_id), self.revision, self.supervisor.to_bytes(), self.place)

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


def standing_of(
    run_id: str, tally: Tally, verdict: Verdict, *, latest: float, ended: bool = False
) -> RunStanding:
    """How a run stands that took this, and about which that holds."""
    return RunStanding(
        run_id=run_id,
        action=verdict.action,
        kind=verdict.kind,
        reason=verdict.reason,
        events=tally.events,
        cost_usd=usd(tally.cost),
        tokens=tally.tokens,
        latest=latest,
        ended=ended,
    )


def _matter(verdict: Verdict) -> tuple[Any, ...]:
    return (verdict.action, verdict.kind, verdict.loop_id, verdict.last_call_made)
