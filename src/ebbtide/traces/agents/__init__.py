"""Readers of what coding agents and evaluation tools write."""
