"""Decisions on their way into the log: proposed, gated, answered."""
