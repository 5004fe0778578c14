-- Streams of events, the decisions that they add up to, their words, and counts.

CREATE TABLE decision_streams (
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    seq {int} NOT NULL,
    head TEXT NOT NULL,
    ts {real} NOT NULL,
    PRIMARY KEY (tenant, agent)
);

CREATE TABLE decision_events (
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    seq {int} NOT NULL,
    kind TEXT NOT NULL,
    decision_id TEXT NOT NULL,
    ts {real} NOT NULL,
    body TEXT,
    body_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (tenant, agent, seq)
);
CREATE INDEX decision_events_of ON decision_events (tenant, decision_id, seq);

CREATE TABLE decisions (
    n {number},
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    status TEXT NOT NULL,
    source TEXT NOT NULL,
    frame TEXT NOT NULL,
    category TEXT,
    opened_at {real} NOT NULL,
    settled_at {real},
    review_by {real},
    start_print TEXT NOT NULL,
    final_print TEXT NOT NULL,
    refused INTEGER NOT NULL,
    rule TEXT NOT NULL,
    outcome TEXT,
    sample_key BIGINT NOT NULL,
    version {int} NOT NULL,
    asked TEXT,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    state TEXT NOT NULL
);
CREATE UNIQUE INDEX decisions_id ON decisions (tenant, id);
CREATE INDEX decisions_of_agent ON decisions (tenant, agent, id);
CREATE INDEX decisions_started ON decisions (tenant, agent, session, opened_at, start_print)
    WHERE start_print <> '';
CREATE INDEX decisions_settled ON decisions (tenant, agent, session, settled_at, final_print)
    WHERE final_print <> '';
-- One in 64: enough for a sample of a large log; a small one is read whole.
CREATE INDEX decisions_sample ON decisions (tenant, refused, sample_key)
    WHERE sample_key < 144115188075855872;
CREATE INDEX decisions_open ON decisions (tenant, opened_at) WHERE status = 'opened';
CREATE INDEX decisions_quarantined ON decisions (tenant, id) WHERE status = 'quarantined';
CREATE INDEX decisions_review_by ON decisions (tenant, review_by) WHERE review_by IS NOT NULL;

CREATE TABLE decision_counts (
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    source TEXT NOT NULL,
    frame TEXT NOT NULL,
    mode TEXT NOT NULL,
    layer TEXT NOT NULL,
    rule TEXT NOT NULL,
    verdict TEXT NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent, source, frame, mode, layer, rule, verdict)
);

-- Decisions that stand are found by what they are about: `key` is a hash of tenant, agent and one or two words
-- of the subject.
CREATE TABLE decision_subjects (
    key {int} NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (key, id)
){no_rowid};
