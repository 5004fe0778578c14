"""Settings of a project: the file, what it says, and where each value came from."""
