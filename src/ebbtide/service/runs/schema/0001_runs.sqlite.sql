CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    project TEXT, agent TEXT, "user" TEXT, source TEXT NOT NULL,
    started REAL NOT NULL, latest REAL NOT NULL,
    events INTEGER NOT NULL DEFAULT 0,
    received INTEGER NOT NULL DEFAULT 0, -- events in the log: after a crash more than are in what is listed
    standing INTEGER NOT NULL DEFAULT 0, kind TEXT, reason TEXT NOT NULL DEFAULT '',
    cost_usd REAL, tokens INTEGER, wasted_usd REAL,
    ended INTEGER NOT NULL DEFAULT 0,
    stop_reason TEXT, note TEXT NOT NULL DEFAULT '',
    -- Since when it is stuck, and what it had cost by then; null where it is not.
    stuck_since REAL, stuck_from_usd REAL,
    wasted_events INTEGER NOT NULL DEFAULT 0, -- by which `wasted_usd`, `words` and `title` were found
    words TEXT, -- how it ended and how it went, as its report says; null where it went on since
    title TEXT NOT NULL DEFAULT '',
    wasted_cents INTEGER NOT NULL DEFAULT 0,
    is_booked INTEGER NOT NULL DEFAULT 0 -- what it took is that of its session files, not of its events
);
CREATE INDEX runs_by_latest ON runs (latest);
CREATE INDEX runs_by_standing ON runs (standing, latest);
CREATE INDEX runs_by_waste ON runs (wasted_cents, standing, latest);

-- Session files of coding agents, each as it was when it was read to its end.
CREATE TABLE session_files (path TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;

-- Bytes of a session file after which it was at rest and open calls were given: read again, it is read with the
-- same rests, so that its events have the same numbers.
CREATE TABLE session_rests (path TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (path, place)) WITHOUT ROWID;

-- A line an event, only ever added; what an event states of itself is in the line.
CREATE TABLE events (
    place INTEGER PRIMARY KEY,
    run INTEGER NOT NULL, chain TEXT NOT NULL, seq INTEGER, at REAL NOT NULL, line BLOB NOT NULL
);
CREATE INDEX events_by_run ON events (run);
CREATE UNIQUE INDEX events_once ON events (run, chain, seq) WHERE seq IS NOT NULL;

-- That a run asked before a call of its model: what was handed over then is not said again.
CREATE TABLE checks (
    run INTEGER NOT NULL, number INTEGER NOT NULL, place INTEGER NOT NULL, agent TEXT, at REAL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;

CREATE TABLE states (
    run INTEGER PRIMARY KEY, revision INTEGER NOT NULL, place INTEGER NOT NULL, checks INTEGER NOT NULL,
    state BLOB NOT NULL
);

-- Up to which place a run was charged to the budgets; run 0 stands for all that have no row.
CREATE TABLE charged (run INTEGER PRIMARY KEY, place INTEGER NOT NULL);

-- What a run took of a model in a quarter of an hour (since 1970): every zone differs from UTC by some of them,
-- so that days are made for whoever asks. An unpriced call has tokens and no cost.
CREATE TABLE spending (
    run INTEGER NOT NULL, quarter INTEGER NOT NULL, model TEXT NOT NULL,
    cost_usd REAL NOT NULL, tokens INTEGER NOT NULL, calls INTEGER NOT NULL, unpriced INTEGER NOT NULL,
    PRIMARY KEY (run, quarter, model)
) WITHOUT ROWID;
CREATE INDEX spending_by_quarter ON spending (quarter);

-- Exports of spans that were acknowledged, and whose events are not among those above yet.
CREATE TABLE exports (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL, media TEXT NOT NULL, encoding TEXT NOT NULL, body BLOB NOT NULL
);

-- What people are told of, once a channel; `let_go_on` is how often a person had let the run go on by then.
CREATE TABLE alerts (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL, level TEXT NOT NULL, let_go_on INTEGER NOT NULL, channel TEXT NOT NULL,
    at REAL NOT NULL, due REAL NOT NULL, body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', tries INTEGER NOT NULL DEFAULT 0,
    UNIQUE (run_id, level, let_go_on, channel)
);
CREATE INDEX alerts_due ON alerts (channel, due) WHERE state = 'waiting';

CREATE TABLE audit (
    number INTEGER PRIMARY KEY, at REAL NOT NULL, act TEXT NOT NULL, run_id TEXT NOT NULL,
    caller TEXT NOT NULL, detail TEXT NOT NULL
);
