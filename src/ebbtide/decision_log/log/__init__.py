"""The log: decisions recorded, read, changed, erased and kept up."""
