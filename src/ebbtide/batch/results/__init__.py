"""The result of a run in an archive: its fields, its columns, its counts."""
