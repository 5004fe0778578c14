"""Hooks in the settings of coding agents: put in, taken out, and looked for."""
