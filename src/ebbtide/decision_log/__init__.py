"""What was decided, as events that are only ever added."""
