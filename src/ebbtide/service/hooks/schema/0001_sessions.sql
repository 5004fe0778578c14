CREATE TABLE sessions (
    run_id TEXT PRIMARY KEY,
    latest REAL,
    session TEXT NOT NULL
) WITHOUT ROWID;
