"""What may not happen, does not: limits, scopes that hold them, and prices."""
