"""A log of decisions: events that are only ever added, and what is read out of them."""
