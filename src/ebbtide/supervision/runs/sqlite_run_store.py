"""Runs in a file of SQLite: they are there after a crash, and for other processes to look at."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path

from ebbtide.errors import StoreError
from ebbtide.supervision.runs.run_store import RunStanding, StoredRun

_VERSION = 1
_APPLICATION = 0x45424252  # "EBBR", so that no other file of SQLite is taken for it
_TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    run_id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    latest REAL NOT NULL,
    standing TEXT NOT NULL,
    state BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_by_latest ON runs (latest);
"""
_SAVE = """
INSERT INTO runs (run_id, revision, latest, standing, state) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run_id) DO UPDATE SET revision = excluded.revision, latest = excluded.latest,
    standing = excluded.standing, state = excluded.state
WHERE excluded.revision >= runs.revision
"""
_WAIT_S = 10.0  # for another process that writes
_SWEEP_S = 3600.0


class SQLiteRunStore:
    """Runs in a file of SQLite, a few KB each.

    A run is held by one process at a time: of two that save the same run, the one with more changes counts.
    The file is opened for each use, so that a store survives a fork.

    Args:
        path: The file; it is made where there is none. Its folder has to be there.
        keep_s: Seconds after which a run that was not heard of any more is deleted; None keeps all.

    Raises:
        StoreError: The file cannot be opened, or is something else.
    """

    is_durable = True

    def __init__(self, path: str | PathLike[str], *, keep_s: float | None = 30 * 24 * 3600.0) -> None:
        self._path = Path(fspath(path))
        self._keep_s = keep_s
        self._swept = 0.0
        self._lock = threading.RLock()
        self._database: sqlite3.Connection | None = None  # in use
        with self._open() as database:
            application, version = (
                database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("application_id", "user_version")
            )
            tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if (tables and application != _APPLICATION) or version > _VERSION:
                raise StoreError(
                    f"{self._path}: not a file of runs that this version reads; choose another path"
                )
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(f"PRAGMA user_version = {_VERSION}")
            database.executescript(_TABLE)

    def save(self, runs: Sequence[StoredRun], /) -> None:
        """Put runs in the place of older revisions of them; all of them or none.

        Raises:
            StoreError: The file cannot be written.
        """
        rows = [
            (
                run.standing.run_id,
                run.revision,
                run.standing.latest,
                json.dumps(run.standing.to_dict()),
                run.state,
            )
            for run in runs
        ]
        with self._open() as database, database:
            database.executemany(_SAVE, rows)
            now = time.time()
            if self._keep_s is not None and now - self._swept > _SWEEP_S:
                self._swept = now
                database.execute("DELETE FROM runs WHERE latest < ?", (now - self._keep_s,))

    def load(self, run_id: str, /) -> StoredRun | None:
        """One run; None where it is not known.

        Raises:
            StoreError: The file cannot be read, or the row is damaged.
        """
        with self._open() as database:
            row = database.execute(
                "SELECT standing, revision, state FROM runs WHERE run_id = ?", (run_id,)
            ).fetchone()
        return None if row is None else StoredRun(self._standing(row[0]), *row[1:])

    def delete(self, run_id: str, /) -> None:
        """Forget a run; one that is not known changes nothing."""
        with self._open() as database, database:
            database.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))

    def standings(self) -> Iterable[RunStanding]:
        """How every run stood when it was saved."""
        with self._open() as database:
            rows = database.execute("SELECT standing FROM runs").fetchall()
        return [self._standing(text) for (text,) in rows]

    def _standing(self, text: str) -> RunStanding:
        try:
            return RunStanding.from_dict(json.loads(text))
        except (LookupError, TypeError, ValueError) as error:
            raise StoreError(f"{self._path}: a damaged row of a run: {text!r:.80}") from error

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._database is not None:
                yield self._database  # a signal handler saves in the middle of another use
                return
            try:
                self._database = sqlite3.connect(self._path, timeout=_WAIT_S)
                self._database.execute("PRAGMA synchronous = NORMAL")
                yield self._database
            except sqlite3.Error as error:
                raise StoreError(
                    f"{self._path}: {error}. Give the path of a file that can be written"
                ) from error
            finally:
                database, self._database = self._database, None
                if database is not None:
                    database.close()
