"""Budgets that many runs, processes and machines draw on."""
