"""One run: its calls in, limits held, warnings and one report out."""
