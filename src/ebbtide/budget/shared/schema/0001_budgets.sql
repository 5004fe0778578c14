CREATE TABLE slots (
    key TEXT PRIMARY KEY,
    spent INTEGER NOT NULL DEFAULT 0,
    reserved INTEGER NOT NULL DEFAULT 0,
    extra INTEGER NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    approved INTEGER NOT NULL DEFAULT 0,
    forget_at REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE leases (
    lease_id TEXT PRIMARY KEY,
    slots TEXT NOT NULL,
    amount INTEGER NOT NULL,
    charged INTEGER,
    unpriced INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL,
    ends REAL NOT NULL
) WITHOUT ROWID;

CREATE INDEX leases_by_end ON leases (ends);

CREATE TABLE clock (latest REAL NOT NULL);

INSERT INTO clock VALUES (0);
