"""The schema of the store, step by step; alembic runs it."""
