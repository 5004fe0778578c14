"""A gate that learns from labels of a user's own, on top of the rules."""
