"""Deliberation."""
