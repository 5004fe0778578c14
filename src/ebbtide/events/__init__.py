"""Vocabulary of all rooms: events, rounds, transcripts, usage, and declarations of tools."""
