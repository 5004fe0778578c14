"""The store of events and of the decisions that they add up to: SQLite or PostgreSQL."""
