"""The gate: judges candidates for decisions, and the quality of their records."""
