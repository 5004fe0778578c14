"""Repeated and reversed decisions."""
