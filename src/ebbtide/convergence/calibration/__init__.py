"""How right the thresholds are on labelled data, and better ones where the labels allow them."""
