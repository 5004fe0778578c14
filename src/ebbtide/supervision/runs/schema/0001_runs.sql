CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    latest REAL NOT NULL,
    standing TEXT NOT NULL,
    state BLOB NOT NULL
) WITHOUT ROWID;

CREATE INDEX runs_by_latest ON runs (latest);
