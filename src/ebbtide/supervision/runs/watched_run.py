"""One run that the registry has at hand: its supervisor, and what the store and the listener know of it."""

from __future__ import annotations

import threading
import time
import warnings
from collections import deque
from dataclasses import replace
from typing import Any

from ebbtide.budget.tally import Tally, usd
from ebbtide.claims.claim_record import ClaimRecord
from ebbtide.claims.sentences import correction
from ebbtide.events.event import Event, Message, Role
from ebbtide.events.identity import MARK
from ebbtide.events.transcript import Round
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.run_store import ModelCheck, RunLog, RunStanding, StoredRun
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

_AGENTS = 2  # that are distinguished: one alone needs no name in its events
_MOST_BEHIND = 1000  # events and checks of a log that are watched again rather than saved: some 60 ms
_TRIES = 3  # to catch a run between two events


class WatchedRun:
    """One run at hand.

    Args:
        supervisor: Watches it.
        now: When it was heard of, in seconds since 1970.
        revision: How often it had changed.

    Attributes:
        latest: When it was last heard of.
        saved_revision: The revision that the store has.
        has_own_time: True if its events come with a time of their own.
        has_ended: True if somebody said so, and nothing came since.
        place: Of its latest event in the log, as in `StoredRun`.
        checks: How often its model was asked for.
        unlogged: The revision at which something changed that is in no log.
        retry_at: When to read again what it was before, on `time.monotonic`; None where it is whole.
    """

    __slots__ = (
        "_agents",
        "_report",
        "_report_check",
        "_saved_steps",
        "_saving_steps",
        "_steps",
        "checks",
        "has_ended",
        "has_own_time",
        "latest",
        "place",
        "retry_at",
        "revision",
        "saved_revision",
        "supervisor",
        "unlogged",
    )

    def __init__(self, supervisor: Supervisor, now: float, stored: StoredRun | None = None) -> None:
        self.supervisor = supervisor
        self.place = self.checks = self.revision = 0
        if stored is not None:
            self.place, self.checks, self.revision = stored.place, stored.checks, stored.revision
        self.latest = now
        self.retry_at: float | None = None
        self.saved_revision = self.unlogged = self.revision
        self._steps = self._saved_steps = self._saving_steps = 0  # events and checks since it was made
        self.has_own_time = False
        self.has_ended = False
        self._report: Verdict | None = None  # the latest change
        has_past = stored is not None and stored.standing.events > 0
        self._report_check = ReportCheck(is_late=has_past) if supervisor.checks_claims else None
        self._agents: list[str | None] = []  # whose model was asked for, as far as it matters

    def record(self, event: Event | Round, place: int) -> Verdict:
        """Takes one more event, with its time and chain, or a round; a place of 0 is in no log."""
        self.place = max(self.place, place)
        self._steps += 1
        if not place:
            self.unlogged = self.revision
        verdict = self.supervisor.record(event)
        if self._report_check is not None and not isinstance(event, Round):
            self._report_check.see(event, self.supervisor.events)
        return verdict

    def check(self, agent: str | None, now: float | None) -> Verdict:
        """Returns what to do before the model of an agent is called; None where none is named."""
        self._ask_for(agent)
        self.checks += 1
        self._steps += 1
        return self.supervisor.check_before_model(agent, now=now)

    def check_report(self, text: str) -> str | None:
        """Returns what to tell the model of its last words, before the run ends; None where it may end."""
        return None if self._report_check is None else self._report_check.note(text)

    def catch_up(self, run_id: str, log: RunLog) -> None:
        """Takes up from a log what it lacks, while nobody else has it.

        Raises:
            StoreError: The log cannot be read.
        """
        checks = deque(log.checks(run_id))
        while checks and checks[0].number <= self.checks:
            self._ask_for(checks.popleft().agent)
        for place, event in log.since(run_id, self.place):
            while checks and checks[0].place < place:
                self._check_again(checks.popleft())
            self.revision += 1
            self.change(self.record(self.placed(event), place))
        for check in checks:
            self._check_again(check)
        self.has_own_time = False  # the log has given each event one

    def _check_again(self, check: ModelCheck) -> None:
        self.revision += 1
        self.change(self.check(check.agent, check.at))
        self.checks = check.number

    def is_due(self) -> bool:
        """Returns True if it is time to read what it was before, which could not be read when it was made."""
        return self.retry_at is not None and time.monotonic() >= self.retry_at

    def lags(self, *, has_log: bool) -> bool:
        """Returns True if its state is to be saved: it changed by more than is soon taken up from a log."""
        if self.retry_at is not None:
            return False  # the log knows more
        if not has_log or self.unlogged > self.saved_revision:
            return self.saved_revision != self.revision
        return self._steps - self._saved_steps > _MOST_BEHIND

    def _ask_for(self, agent: str | None) -> None:
        if len(self._agents) < _AGENTS and agent not in self._agents:
            self._agents.append(agent)

    def placed(self, event: Event) -> Event:
        """Returns an event with its time and its chain."""
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
        """Returns the chain of an event that names none: that of its agent, or of the only one."""
        if isinstance(agent, str) and agent:
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
        """Returns how it stands."""
        return standing_of(
            run_id, self.supervisor.tally, self.supervisor.verdict(), latest=self.latest, ended=self.has_ended
        )

    def stored(self, run_id: str) -> StoredRun:
        """Returns its form for a store."""
        self._saving_steps = self._steps
        state = self.supervisor.to_bytes()
        return StoredRun(self.standing(run_id), self.revision, state, self.place, self.checks)

    def stored_beside(self, run_id: str, lock: threading.RLock) -> StoredRun:
        """Returns its form for a store, made mostly without the lock that others wait for."""
        for _ in range(_TRIES):
            with lock:
                revision = self.revision
            stored = self.stored(run_id)
            with lock:
                if self.revision == revision:
                    return stored
        with lock:
            return self.stored(run_id)

    def saved(self, stored: StoredRun) -> None:
        """Notes that the store has it, as it was then."""
        self.saved_revision = stored.revision
        self._saved_steps = self._saving_steps

    def change(self, verdict: Verdict) -> Verdict | None:
        """Returns the verdict, where something else is to be done than before; None where it is the same."""
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
        """Notes that a person has answered: what comes now is a change."""
        self._report = None


def standing_of(
    run_id: str, tally: Tally, verdict: Verdict, *, latest: float, ended: bool = False
) -> RunStanding:
    """Returns the standing of a run that took this, and for which that holds."""
    return RunStanding(
        run_id=run_id,
        action=verdict.action,
        kind=verdict.kind,
        reason=verdict.explanation,
        events=tally.events,
        cost_usd=usd(tally.cost),
        tokens=tally.tokens,
        latest=latest,
        ended=ended,
    )


def _matter(verdict: Verdict) -> tuple[Any, ...]:
    return (verdict.action, verdict.kind, verdict.loop_id, verdict.last_call_made)


class ReportCheck:
    """Keeps the facts of a run, and says once what its report has against them.

    Args:
        is_late: True if the run had a past that is not at hand: what is missing may have been there.
    """

    __slots__ = ("_has_spoken", "_record")

    def __init__(self, *, is_late: bool) -> None:
        self._record = ClaimRecord()
        self._record.is_partial = is_late
        self._has_spoken = False

    def see(self, event: Event, number: int) -> None:
        """Takes the event of that number; words of a person begin a new turn."""
        if isinstance(event, Message) and event.role is Role.USER:
            self._has_spoken = False
        self._record.see(event, number)

    def note(self, text: str) -> str | None:
        """Returns what to tell the model of its report; None where nothing is wrong, or it has heard."""
        if self._has_spoken:
            return None
        words = correction(self._record.check_report(text))
        self._has_spoken = words is not None
        return None if words is None else MARK + words
