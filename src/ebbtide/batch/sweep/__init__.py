"""Verdicts held against the outcomes of an archive, under other settings."""
