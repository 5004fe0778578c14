"""Where the money of a run went: each event pays for what it put into the context, from the usage alone."""
