"""The sessions of this machine's coding agents, read in the files that the agents write."""
