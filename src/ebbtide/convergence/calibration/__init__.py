"""Measures how right the thresholds are on labelled data, and finds better ones where the labels allow them."""
