"""Every call of a model once, over any number of files and runs: its usage, its owner, and sums of it."""
