"""Whether an agent that is sure is right: its stated confidence against how its decisions turned out."""
