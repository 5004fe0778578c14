"""Archives of runs as rows of tables: a span or an event a row."""
