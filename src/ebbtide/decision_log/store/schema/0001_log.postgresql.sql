-- The index of words.

ALTER TABLE decisions
    ADD COLUMN search_vector TSVECTOR GENERATED ALWAYS AS (to_tsvector('simple', search_text)) STORED;
CREATE INDEX decisions_words ON decisions USING gin (search_vector);
