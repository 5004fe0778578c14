"""The service on this machine: it takes the hooks of coding agents, keeps their runs, and answers."""
