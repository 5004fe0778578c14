"""The hooks of coding agents: what an agent tells in its own JSON, and what it is answered in it.

One file an agent, with pure functions alone; `ebbtide.service` has the state.
"""
