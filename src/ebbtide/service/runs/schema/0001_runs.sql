CREATE TABLE runs (
    number {number},
    run_id TEXT NOT NULL UNIQUE,
    project TEXT, agent TEXT, "user" TEXT, source TEXT NOT NULL,
    started {real} NOT NULL, latest {real} NOT NULL,
    events {int} NOT NULL DEFAULT 0,
    received {int} NOT NULL DEFAULT 0, -- events in the log: after a crash more than are in what is listed
    standing {int} NOT NULL DEFAULT 0, kind TEXT, reason TEXT NOT NULL DEFAULT '',
    cost_usd {real}, tokens {int}, wasted_usd {real},
    ended {int} NOT NULL DEFAULT 0,
    stop_reason TEXT, note TEXT NOT NULL DEFAULT '',
    -- Since when it is stuck, and what it had cost by then; null where it is not.
    stuck_since {real}, stuck_from_usd {real},
    wasted_events {int} NOT NULL DEFAULT 0, -- by which `wasted_usd`, `words` and `title` were found
    words TEXT, -- how it ended and how it went, as its report says; null where it went on since
    title TEXT NOT NULL DEFAULT '',
    wasted_cents {int} NOT NULL DEFAULT 0,
    is_booked {int} NOT NULL DEFAULT 0 -- what it took is that of its session files, not of its events
);
CREATE INDEX runs_by_latest ON runs (latest);
CREATE INDEX runs_by_standing ON runs (standing, latest);
CREATE INDEX runs_by_waste ON runs (wasted_cents, standing, latest);

-- Session files of coding agents, each as it was when it was read to its end.
CREATE TABLE session_files (path TEXT PRIMARY KEY, state TEXT NOT NULL){no_rowid};

-- Bytes of a session file after which it was at rest and open calls were given: read again, it is read with the
-- same rests, so that its events have the same numbers.
CREATE TABLE session_rests (path TEXT NOT NULL, place {int} NOT NULL, PRIMARY KEY (path, place)){no_rowid};

-- A line an event, only ever added; what an event states of itself is in the line.
CREATE TABLE events (
    place {number},
    run {int} NOT NULL, chain TEXT NOT NULL, seq {int}, at {real} NOT NULL, line {bytes} NOT NULL
);
CREATE INDEX events_by_run ON events (run);
CREATE UNIQUE INDEX events_once ON events (run, chain, seq) WHERE seq IS NOT NULL;

-- That a run asked before a call of its model: what was handed over then is not said again.
CREATE TABLE checks (
    run {int} NOT NULL, number {int} NOT NULL, place {int} NOT NULL, agent TEXT, at {real},
    PRIMARY KEY (run, number)
){no_rowid};

CREATE TABLE states (
    run {int} PRIMARY KEY, revision {int} NOT NULL, place {int} NOT NULL, checks {int} NOT NULL,
    state {bytes} NOT NULL
);

-- Up to which place a run was charged to the budgets; run 0 stands for all that have no row.
CREATE TABLE charged (run {int} PRIMARY KEY, place {int} NOT NULL);

-- What a run took of a model in a quarter of an hour (since 1970): every zone differs from UTC by some of them,
-- so that days are made for whoever asks. An unpriced call has tokens and no cost.
CREATE TABLE spending (
    run {int} NOT NULL, quarter {int} NOT NULL, model TEXT NOT NULL,
    cost_usd {real} NOT NULL, tokens {int} NOT NULL, calls {int} NOT NULL, unpriced {int} NOT NULL,
    PRIMARY KEY (run, quarter, model)
){no_rowid};
CREATE INDEX spending_by_quarter ON spending (quarter);

-- Exports of spans that were acknowledged, and whose events are not among those above yet.
CREATE TABLE exports (
    number {number_once},
    kind TEXT NOT NULL, media TEXT NOT NULL, encoding TEXT NOT NULL, body {bytes} NOT NULL
);

-- What people are told of, once a channel; `let_go_on` is how often a person had let the run go on by then.
CREATE TABLE alerts (
    number {number},
    run_id TEXT NOT NULL, level TEXT NOT NULL, let_go_on {int} NOT NULL, channel TEXT NOT NULL,
    at {real} NOT NULL, due {real} NOT NULL, body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', tries {int} NOT NULL DEFAULT 0,
    UNIQUE (run_id, level, let_go_on, channel)
);
CREATE INDEX alerts_due ON alerts (channel, due) WHERE state = 'waiting';

CREATE TABLE audit (
    number {number}, at {real} NOT NULL, act TEXT NOT NULL, run_id TEXT NOT NULL,
    caller TEXT NOT NULL, detail TEXT NOT NULL
);
