"""Decisions in the sentences of an agent: the gate, repeats, and turns."""
