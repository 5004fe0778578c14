-- Streams of events, the decisions that they add up to, their words, and counts.

CREATE TABLE decision_streams (
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    seq INTEGER NOT NULL,
    head TEXT NOT NULL,
    ts DOUBLE NOT NULL,
    PRIMARY KEY (tenant, agent)
);

CREATE TABLE decision_events (
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    decision_id TEXT NOT NULL,
    ts DOUBLE NOT NULL,
    body TEXT,
    body_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (tenant, agent, seq)
);
CREATE INDEX decision_events_of ON decision_events (tenant, decision_id, seq);

CREATE TABLE decisions (
    n INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    status TEXT NOT NULL,
    source TEXT NOT NULL,
    frame TEXT NOT NULL,
    category TEXT,
    opened_at DOUBLE NOT NULL,
    settled_at DOUBLE,
    review_by DOUBLE,
    start_print TEXT NOT NULL,
    final_print TEXT NOT NULL,
    refused INTEGER NOT NULL,
    rule TEXT NOT NULL,
    outcome TEXT,
    sample_key BIGINT NOT NULL,
    version INTEGER NOT NULL,
    asked TEXT,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (n)
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

CREATE VIRTUAL TABLE decision_words
    USING fts5(search_text, content='decisions', content_rowid='n', tokenize='unicode61');

-- The words of new decisions go into the index some fifty at a time; until then the numbers of their rows
-- stand in a table of their own. An index of words costs more for each commit than all the rest.
CREATE TABLE decision_unindexed (
    n INTEGER NOT NULL,
    PRIMARY KEY (n)
);

CREATE TRIGGER decision_words_added AFTER INSERT ON decisions
    WHEN new.search_text <> ''
BEGIN
    INSERT INTO decision_unindexed (n) VALUES (new.n);
END;
CREATE TRIGGER decision_words_removed AFTER DELETE ON decisions
    WHEN old.search_text <> ''
BEGIN
    INSERT INTO decision_words(decision_words, rowid, search_text)
        SELECT 'delete', old.n, old.search_text
        WHERE NOT EXISTS (SELECT 1 FROM decision_unindexed WHERE n = old.n);
    DELETE FROM decision_unindexed WHERE n = old.n;
END;
CREATE TRIGGER decision_words_changed AFTER UPDATE OF search_text ON decisions
    WHEN new.search_text <> old.search_text
BEGIN
    INSERT INTO decision_words(decision_words, rowid, search_text)
        SELECT 'delete', old.n, old.search_text
        WHERE old.search_text <> '' AND NOT EXISTS (SELECT 1 FROM decision_unindexed WHERE n = old.n);
    DELETE FROM decision_unindexed WHERE n = old.n;
    INSERT INTO decision_unindexed (n) SELECT new.n WHERE new.search_text <> '';
END;

-- Decisions that stand are found by what they are about: `key` is a hash of tenant, agent and one or two words
-- of the subject.
CREATE TABLE decision_subjects (
    key INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (key, id)
) WITHOUT ROWID;
