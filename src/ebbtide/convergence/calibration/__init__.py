"""Measures the thresholds on labelled data, and finds better ones where the labels allow them."""
