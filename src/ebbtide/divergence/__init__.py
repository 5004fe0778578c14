"""Calls in, signals out: repeats, cycles, no progress, rates; and the execution graph of the spec."""
