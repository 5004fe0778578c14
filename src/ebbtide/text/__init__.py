"""Ground of the three engines for text: words in, similarity out."""
