"""Calibration: the stated confidence of an agent against the outcomes of its decisions."""
