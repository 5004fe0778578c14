"""How decisions turned out."""
