"""Noise and duplicates that are in a log already."""
