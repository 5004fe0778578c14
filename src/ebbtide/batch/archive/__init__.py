"""Archives of runs as files: found, checked on all cores, added up."""
