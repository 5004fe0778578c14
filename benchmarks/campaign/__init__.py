"""Attacks on the whole product, each seeded and bounded in time: ``python -m benchmarks.campaign``."""
