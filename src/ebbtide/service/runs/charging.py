"""Charges of runs to budgets: who pays for a run, and how far its log was charged when a process ended.

Every method raises `StoreError` where the database cannot be read or written.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from ebbtide.bounded import Bounded
from ebbtide.budget.shared.budget import Spender
from ebbtide.database.session import Session
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_origin import RunOrigin, RunSource
from ebbtide.supervision.runs.run_budgets import RunBudgets
from ebbtide.supervision.runs.watched_run import WatchedRun
from ebbtide.supervision.supervisor import Supervisor

_MOST_SPENDERS: Final = 10_000  # runs at hand; of the others the database knows it
_ALL: Final = 0  # the number of no run, as in the next
_MARK_ALL: Final = "INSERT INTO charged (run, place) SELECT 0, coalesce(max(place), 0) FROM events"
_MARK: Final = """
INSERT INTO charged (run, place) SELECT number, CAST(? AS BIGINT) FROM runs WHERE run_id = ?
ON CONFLICT (run) DO UPDATE SET place = excluded.place
"""
_BEHIND: Final = """
SELECT run_id, coalesce(charged.place, CAST(? AS BIGINT)) FROM runs
JOIN (SELECT run, max(place) AS latest FROM events WHERE place > ? GROUP BY run) AS news ON news.run = number
LEFT JOIN charged ON charged.run = number
WHERE news.latest > coalesce(charged.place, CAST(? AS BIGINT)) AND source != ?
"""


class RunSpenders:
    """Knows the project, the agent and the user of each run. It may be used from several threads."""

    def __init__(self, database: RunDatabase) -> None:
        self._database = database
        self._spenders: Bounded[str, Spender] = Bounded(_MOST_SPENDERS)
        self._lock = threading.Lock()

    def of(self, run_id: str) -> Spender:
        """Who pays for a run."""
        with self._lock:
            spender = self._spenders.get(run_id)
            if spender is None:
                spender = _named(Spender(run=run_id), self._database.origin(run_id) or RunOrigin())
            self._spenders.renew(run_id, spender)
            return spender

    def name(self, run_id: str, origin: RunOrigin) -> bool:
        """Take what somebody says of a run, where they name anything; whether it is new."""
        before = self.of(run_id)
        spender = _named(before, origin)
        if spender == before:
            return False
        with self._lock:
            self._spenders.renew(run_id, spender)
        return True

    def forget(self, run_id: str) -> None:
        """A run is deleted."""
        with self._lock:
            self._spenders.pop(run_id, None)


def _named(spender: Spender, origin: RunOrigin) -> Spender:
    names = {"project": origin.project, "agent": origin.agent, "user": origin.user}
    return dataclasses.replace(spender, **{key: name for key, name in names.items() if name is not None})


class ChargeMarks:
    """Notes which events were charged, a moment after it."""

    def __init__(self, database: RunDatabase) -> None:
        self._database = database
        self._marks = database.latest_values(_write)

    def put(self, run_id: str, place: int) -> None:
        """Note that a run was charged up to a place."""
        self._marks.put(run_id, place)

    def charge_rest(self, budgets: RunBudgets, make: Callable[[], Supervisor]) -> None:
        """Charge what is in the log and was not charged. What was charged less than an hour ago counts once.

        What was there before there were budgets counts as charged. Of what session files report nobody knows
        whether it was to be charged: it is left out.

        Args:
            make: Makes the supervisor that counts what an event took beside those before it.
        """
        for run_id, latest in self._behind():
            run = WatchedRun(make(), time.time())
            for place, event in self._database.since(run_id, 0):
                item, before = run.placed(event), run.supervisor.tally.cost
                run.record(item, place)
                if place > latest:
                    spending = budgets.spending(item, before, run.supervisor.tally)
                    budgets.charge(run_id, spending, place)

    def _behind(self) -> list[tuple[str, int]]:
        """Runs with events that were not charged, and the place of the latest that was."""
        rows = self._database.read("SELECT place FROM charged WHERE run = ?", (_ALL,))
        if not rows:
            return []
        first = rows[0][0]
        behind = self._database.read(_BEHIND, (first, first, first, RunSource.SESSION_FILE))
        return [(run_id, place) for run_id, place in behind]

    def begin(self, *, has_budgets: bool) -> None:
        """Count all that is in the log as charged, from now on; without budgets nothing is counted."""

        def write(session: Session) -> None:
            session.run("DELETE FROM charged")
            if has_budgets:
                session.run(_MARK_ALL)

        self._database.write(write)


def _write(session: Session, places: Mapping[str, int]) -> None:
    session.run_many(_MARK, [(place, run_id) for run_id, place in places.items()])
