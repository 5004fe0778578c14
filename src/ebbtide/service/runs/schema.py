"""The tables of the service."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from ebbtide.errors import StoreError

_APPLICATION: Final = 0x45424253  # "EBBS", so that no other file of SQLite is taken for it
_VERSION: Final = 4
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    project TEXT, agent TEXT, user TEXT, source TEXT NOT NULL,
    started REAL NOT NULL, latest REAL NOT NULL,
    events INTEGER NOT NULL DEFAULT 0,
    received INTEGER NOT NULL DEFAULT 0, -- events in the log: after a crash more than are in what is listed
    standing INTEGER NOT NULL DEFAULT 0, kind TEXT, reason TEXT NOT NULL DEFAULT '',
    cost_usd REAL, tokens INTEGER, wasted_usd REAL,
    ended INTEGER NOT NULL DEFAULT 0,
    stop_reason TEXT, note TEXT NOT NULL DEFAULT '',
    -- Since when it is stuck, and what it had cost by then; null where it is not.
    stuck_since REAL, stuck_from_usd REAL,
    wasted_events INTEGER NOT NULL DEFAULT 0 -- by which `wasted_usd` was found
);
CREATE INDEX IF NOT EXISTS runs_by_latest ON runs (latest);
CREATE INDEX IF NOT EXISTS runs_by_standing ON runs (standing, latest);

-- Session files of coding agents, each as it was when it was read to its end.
CREATE TABLE IF NOT EXISTS session_files (path TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;

-- A line an event, only ever added; what an event states of itself is in the line.
CREATE TABLE IF NOT EXISTS events (
    place INTEGER PRIMARY KEY,
    run INTEGER NOT NULL, chain TEXT NOT NULL, seq INTEGER, at REAL NOT NULL, line BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_run ON events (run);
CREATE UNIQUE INDEX IF NOT EXISTS events_once ON events (run, chain, seq) WHERE seq IS NOT NULL;

-- That a run asked before a call of its model: what was handed over then is not said again.
CREATE TABLE IF NOT EXISTS checks (
    run INTEGER NOT NULL, number INTEGER NOT NULL, place INTEGER NOT NULL, agent TEXT, at REAL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS states (
    run INTEGER PRIMARY KEY, revision INTEGER NOT NULL, place INTEGER NOT NULL, checks INTEGER NOT NULL,
    state BLOB NOT NULL
);

-- What a run took of a model on a day (UTC, days since 1970); an unpriced call has tokens and no cost.
CREATE TABLE IF NOT EXISTS spending (
    run INTEGER NOT NULL, day INTEGER NOT NULL, model TEXT NOT NULL,
    cost_usd REAL NOT NULL, tokens INTEGER NOT NULL, calls INTEGER NOT NULL, unpriced INTEGER NOT NULL,
    PRIMARY KEY (run, day, model)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS spending_by_day ON spending (day);

-- Exports of spans that were acknowledged, and whose events are not among those above yet.
CREATE TABLE IF NOT EXISTS exports (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL, media TEXT NOT NULL, encoding TEXT NOT NULL, body BLOB NOT NULL
);

-- What people are told of, once a channel; `let_go_on` is how often a person had let the run go on by then.
CREATE TABLE IF NOT EXISTS alerts (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL, level TEXT NOT NULL, let_go_on INTEGER NOT NULL, channel TEXT NOT NULL,
    at REAL NOT NULL, due REAL NOT NULL, body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', tries INTEGER NOT NULL DEFAULT 0,
    UNIQUE (run_id, level, let_go_on, channel)
);
CREATE INDEX IF NOT EXISTS alerts_due ON alerts (channel, due) WHERE state = 'waiting';

CREATE TABLE IF NOT EXISTS audit (
    number INTEGER PRIMARY KEY, at REAL NOT NULL, act TEXT NOT NULL, run_id TEXT NOT NULL,
    caller TEXT NOT NULL, detail TEXT NOT NULL
);
"""


def prepare(database: sqlite3.Connection, path: Path) -> None:
    """Make the tables where there are none, and have what is committed stay through a loss of power.

    Raises:
        StoreError: The file is something else, or of another version.
    """
    application, version = (
        database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and (application != _APPLICATION or version != _VERSION):
        raise StoreError(f"{path}: not a file of this version of the service. Choose another path")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA secure_delete = ON")
    database.execute(f"PRAGMA application_id = {_APPLICATION}")
    database.execute(f"PRAGMA user_version = {_VERSION}")
    database.executescript(_TABLES)
