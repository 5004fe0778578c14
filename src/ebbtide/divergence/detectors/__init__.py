"""The detectors of loops, one a file."""
