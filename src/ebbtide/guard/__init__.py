"""Guards of calls: they are let through, wrapped and counted."""
