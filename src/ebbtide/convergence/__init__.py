"""Rounds in, novelty and readiness out, and whether to go on: CONTINUE, SHIP or ESCALATE."""
