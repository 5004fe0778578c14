"""Decisions in and out: a file of another log, records as markdown, and everything as JSON."""
