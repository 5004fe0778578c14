"""Coding agents on this machine, watched through their hooks: a small service that they start themselves."""
