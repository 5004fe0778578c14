-- Decisions that stand are found by what they are about: a few hashes of the words of their subject.
--
-- `key` is a hash of tenant, agent and one or two words. Those of earlier decisions are put in by the program,
-- some at a time; the numbers of the rows that still wait stand in a table of their own.

CREATE TABLE decision_subjects (
    key BIGINT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (key, id)
);

CREATE TABLE decision_unkeyed (
    n BIGINT NOT NULL,
    PRIMARY KEY (n)
);
INSERT INTO decision_unkeyed (n) SELECT n FROM decisions WHERE status = 'kept';
