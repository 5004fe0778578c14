"""What everybody talks about: events, rounds, transcripts, usage, and what is declared about tools."""
