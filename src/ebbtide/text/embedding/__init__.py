"""Texts as vectors: a model on this machine, a library, an endpoint, and a cache around each."""
