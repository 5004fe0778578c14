"""Tells people, wherever they are, that a run needs them."""
