"""Edits held against decisions: whether the text that an edit adds has what a decision ruled out."""
