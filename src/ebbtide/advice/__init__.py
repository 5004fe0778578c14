"""Advice about the settings of a coding agent, priced by replay of the sessions that are recorded."""
