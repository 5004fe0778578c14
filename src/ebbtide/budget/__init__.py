"""Limits of what a run may take, scopes that hold them, prices, and counts of what it took."""
