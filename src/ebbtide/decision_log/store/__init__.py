"""Where the events of decisions and their folded state lie: SQLite or PostgreSQL."""
