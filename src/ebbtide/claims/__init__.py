"""Claims of an agent's report, held against the record of its run."""
