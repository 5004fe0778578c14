"""What a run may take and what it took: limits, scopes that hold them, and prices."""
