"""The money pass: what model calls took, by typed decoding of just those fields of session files."""
