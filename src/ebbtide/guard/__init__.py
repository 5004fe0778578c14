"""Calls that are let through, wrapped and counted."""
