"""Words in, similarity out: what the three engines share about text."""
