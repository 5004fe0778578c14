"""Contrasts that keep alike texts apart: a number, a negation, an antonym, exchanged sides."""
