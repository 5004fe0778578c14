"""The command `ebbtide`: a shell over the public functions."""
