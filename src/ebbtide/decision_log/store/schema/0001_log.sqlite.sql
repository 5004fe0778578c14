-- The index of words.

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
