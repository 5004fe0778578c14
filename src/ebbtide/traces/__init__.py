"""Readers of conversations: one file a format, one registry."""
