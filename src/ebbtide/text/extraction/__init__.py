"""Claims, decisions, open questions and next actions out of raw text, by rules that are data."""
