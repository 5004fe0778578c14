CREATE TABLE runs (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    project TEXT, agent TEXT, "user" TEXT, source TEXT NOT NULL,
    started DOUBLE PRECISION NOT NULL, latest DOUBLE PRECISION NOT NULL,
    events BIGINT NOT NULL DEFAULT 0,
    received BIGINT NOT NULL DEFAULT 0, -- events in the log: after a crash more than are in what is listed
    standing BIGINT NOT NULL DEFAULT 0, kind TEXT, reason TEXT NOT NULL DEFAULT '',
    cost_usd DOUBLE PRECISION, tokens BIGINT, wasted_usd DOUBLE PRECISION,
    ended BIGINT NOT NULL DEFAULT 0,
    stop_reason TEXT, note TEXT NOT NULL DEFAULT '',
    -- Since when it is stuck, and what it had cost by then; null where it is not.
    stuck_since DOUBLE PRECISION, stuck_from_usd DOUBLE PRECISION,
    wasted_events BIGINT NOT NULL DEFAULT 0, -- by which `wasted_usd`, `words` and `title` were found
    words TEXT, -- how it ended and how it went, as its report says; null where it went on since
    title TEXT NOT NULL DEFAULT '',
    wasted_cents INTEGER NOT NULL DEFAULT 0,
    is_booked BIGINT NOT NULL DEFAULT 0 -- what it took is that of its session files, not of its events
);
CREATE INDEX runs_by_latest ON runs (latest);
CREATE INDEX runs_by_standing ON runs (standing, latest);
CREATE INDEX runs_by_waste ON runs (wasted_cents, standing, latest);

-- Session files of coding agents, each as it was when it was read to its end.
CREATE TABLE session_files (path TEXT PRIMARY KEY, state TEXT NOT NULL);

-- Bytes of a session file after which it was at rest and open calls were given: read again, it is read with the
-- same rests, so that its events have the same numbers.
CREATE TABLE session_rests (path TEXT NOT NULL, place BIGINT NOT NULL, PRIMARY KEY (path, place));

-- A line an event, only ever added; what an event states of itself is in the line.
CREATE TABLE events (
    place BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run BIGINT NOT NULL, chain TEXT NOT NULL, seq BIGINT, at DOUBLE PRECISION NOT NULL, line BYTEA NOT NULL
);
CREATE INDEX events_by_run ON events (run);
CREATE UNIQUE INDEX events_once ON events (run, chain, seq) WHERE seq IS NOT NULL;

-- That a run asked before a call of its model: what was handed over then is not said again.
CREATE TABLE checks (
    run BIGINT NOT NULL, number BIGINT NOT NULL, place BIGINT NOT NULL, agent TEXT, at DOUBLE PRECISION,
    PRIMARY KEY (run, number)
);

CREATE TABLE states (
    run BIGINT PRIMARY KEY, revision BIGINT NOT NULL, place BIGINT NOT NULL, checks BIGINT NOT NULL,
    state BYTEA NOT NULL
);

-- Up to which place a run was charged to the budgets; run 0 stands for all that have no row.
CREATE TABLE charged (run BIGINT PRIMARY KEY, place BIGINT NOT NULL);

-- What a run took of a model in a quarter of an hour (since 1970): every zone differs from UTC by some of them,
-- so that days are made for whoever asks. An unpriced call has tokens and no cost.
CREATE TABLE spending (
    run BIGINT NOT NULL, quarter BIGINT NOT NULL, model TEXT NOT NULL,
    cost_usd DOUBLE PRECISION NOT NULL, tokens BIGINT NOT NULL, calls BIGINT NOT NULL, unpriced BIGINT NOT NULL,
    PRIMARY KEY (run, quarter, model)
);
CREATE INDEX spending_by_quarter ON spending (quarter);

-- Exports of spans that were acknowledged, and whose events are not among those above yet.
CREATE TABLE exports (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind TEXT NOT NULL, media TEXT NOT NULL, encoding TEXT NOT NULL, body BYTEA NOT NULL
);

-- What people are told of, once a channel; `let_go_on` is how often a person had let the run go on by then.
CREATE TABLE alerts (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id TEXT NOT NULL, level TEXT NOT NULL, let_go_on BIGINT NOT NULL, channel TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL, due DOUBLE PRECISION NOT NULL, body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', tries BIGINT NOT NULL DEFAULT 0,
    UNIQUE (run_id, level, let_go_on, channel)
);
CREATE INDEX alerts_due ON alerts (channel, due) WHERE state = 'waiting';

CREATE TABLE audit (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at DOUBLE PRECISION NOT NULL, act TEXT NOT NULL, run_id TEXT NOT NULL,
    caller TEXT NOT NULL, detail TEXT NOT NULL
);
