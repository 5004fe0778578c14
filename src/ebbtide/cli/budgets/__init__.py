"""The commands about budgets that many processes draw on."""
