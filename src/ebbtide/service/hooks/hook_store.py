"""Runs and what is remembered of their sessions, written together: neither is newer after a crash."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ebbtide.bounded import Bounded
from ebbtide.database.kept_file import KeptFile
from ebbtide.database.migrating import Schema
from ebbtide.database.sqlite_errors import SQLITE_ERRORS
from ebbtide.errors import StoreError
from ebbtide.service.hooks.hook_session import HookSession
from ebbtide.supervision.runs.run_store import RunStanding, RunStore, StoredRun

_WAIT_S: Final = 0.05
_MOST: Final = 1000  # sessions at hand
_KEEP_S: Final = 30 * 24 * 3600.0  # as runs are kept
_SCHEMA: Final = Schema(
    what="file of sessions",
    folder=Path(__file__).parent / "schema",
    tables=("sessions",),
    version_table="sessions_version",
    lock=0x45424253,
)
_SAVE: Final = "INSERT OR REPLACE INTO sessions (run_id, latest, session) VALUES (?, ?, ?)"


class HookStore:
    """A `RunStore` that keeps sessions beside the runs.

    Raises:
        StoreError: One of them cannot be written.
    """

    is_durable = True

    def __init__(self, runs: RunStore, sessions: Path) -> None:
        self._runs = runs
        self._file = KeptFile(sessions, _SCHEMA)
        self._lock = threading.RLock()
        self._sessions: Bounded[str, HookSession] = Bounded(_MOST)
        self._saved: dict[str, int] = {}  # the revision of each that is in the file
        with self._file.transaction() as database:
            database.execute("DELETE FROM sessions WHERE latest < ?", (time.time() - _KEEP_S,))

    def session(self, run_id: str) -> HookSession:
        """Returns what is remembered of a session; one that is new remembers nothing."""
        with self._lock:
            session = self._sessions.get(run_id)
            if session is None:
                session = self._stored(run_id)
                dropped = self._sessions.put(run_id, session)
                if dropped is not None:
                    self._saved.pop(dropped[0], None)
            self._sessions.move_to_end(run_id)
            return session

    def folder(self, run_id: str) -> str | None:
        """The folder that the agent of a run worked in first; None where that is not known."""
        with self._lock:
            session = self._sessions.get(run_id)
        return (self._stored(run_id) if session is None else session).folder

    def save(self, runs: Sequence[StoredRun], /) -> None:
        """Puts runs in the place of older revisions of them, with their sessions."""
        with self._lock:
            sessions = {run.standing.run_id: self._sessions.get(run.standing.run_id) for run in runs}
        rows = [row for run_id, session in sessions.items() if (row := _row(run_id, session)) is not None]
        self._runs.save(runs)
        self._write(rows)

    def save_sessions(self) -> None:
        """Writes the sessions that have changed since."""
        with self._lock:
            sessions = [
                (run_id, session)
                for run_id, session in self._sessions.items()
                if session.revision != self._saved.get(run_id, 0)
            ]
        self._write([row for run_id, session in sessions if (row := _row(run_id, session)) is not None])

    def save_session(self, run_id: str) -> None:
        """Writes one session."""
        row = _row(run_id, self.session(run_id))
        self._write([] if row is None else [row])

    def load(self, run_id: str, /) -> StoredRun | None:
        """Returns one run; None where it is not known."""
        return self._runs.load(run_id)

    def delete(self, run_id: str, /) -> None:
        """Forgets a run with its session."""
        self._runs.delete(run_id)
        with self._lock:
            self._sessions.pop(run_id, None)
            self._saved.pop(run_id, None)
        with self._file.transaction() as database:
            database.execute("PRAGMA secure_delete = ON")
            database.execute("DELETE FROM sessions WHERE run_id = ?", (run_id,))

    def standings(self) -> Iterable[RunStanding]:
        """Returns how every run stood when it was saved."""
        return self._runs.standings()

    def _write(self, rows: Sequence[_Row]) -> None:
        if not rows:
            return
        with self._file.transaction() as database:
            database.executemany(_SAVE, [row[:3] for row in rows])
        with self._lock:
            self._saved.update((row.run_id, row.revision) for row in rows if row.run_id in self._sessions)

    def _stored(self, run_id: str) -> HookSession:
        try:
            with self._file.transaction(write=False) as database:
                row = database.execute("SELECT session FROM sessions WHERE run_id = ?", (run_id,)).fetchone()
            session = HookSession()
            if row is not None:
                session.restore(json.loads(row[0]))
        except (StoreError, LookupError, TypeError, ValueError):
            return HookSession()  # the run goes on; only events that come twice may count twice
        return session


class _Row(NamedTuple):
    run_id: str
    latest: float | None
    session: str
    revision: int


def _row(run_id: str, session: HookSession | None) -> _Row | None:
    """A session for the file; None where somebody is at it, since they may wait for this very writing."""
    if session is None or not session.lock.acquire(timeout=_WAIT_S):
        return None
    try:
        return _Row(run_id, session.latest, json.dumps(session.to_state()), session.revision)
    finally:
        session.lock.release()


def latest_events(path: Path) -> dict[str, tuple[float, str]]:
    """When the last event of each agent came, and of which run, as a service that ended has left it."""
    if not path.exists():
        return {}
    try:
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            rows = database.execute("SELECT run_id, latest FROM sessions ORDER BY latest").fetchall()
        finally:
            database.close()
    except SQLITE_ERRORS:
        return {}
    return {run_id.partition(":")[0]: (latest, run_id) for run_id, latest in rows if latest is not None}
