"""The execution graph of the divergence spec."""
