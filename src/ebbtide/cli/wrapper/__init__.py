"""`ebbtide run`: a command-line agent in a terminal of its own, its session watched while it works."""
