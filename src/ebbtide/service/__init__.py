"""Services: one that coding agents start through their hooks, and one for all runs, with an API."""
