"""Commands of the service on this machine, and of the hooks that feed it."""
