"""The sessions of coding agents that lie on this machine: where, of whom, and of which project."""
