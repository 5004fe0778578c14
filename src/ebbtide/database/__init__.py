"""The databases that hold what has to stay: a file of SQLite, or a PostgreSQL server."""
