"""Many runs at once, as files or as rows of a table, on one machine or on an engine that has many."""
