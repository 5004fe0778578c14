"""The bill of a run: each event pays for what it put into the context, from the usage alone."""
