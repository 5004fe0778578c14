-- What became of the commits of a session, as JSON; null where git was not asked.
ALTER TABLE runs ADD COLUMN shipped TEXT;
