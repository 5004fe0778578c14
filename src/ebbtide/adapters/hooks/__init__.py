"""Hooks of coding agents: what an agent reports in its own JSON, and the answer to it in the same JSON.

One file an agent, with pure functions alone; `ebbtide.service` has the state.
"""
