"""Which sentences of an agent are decisions worth keeping: the gate, repeats, and turns."""
