"""The commands about archives: many runs, as files or as rows."""
