"""A decision and its events: fields, rows of an event, folding into what holds now."""
