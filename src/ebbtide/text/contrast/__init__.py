"""What keeps alike texts apart: a number, a negation, an antonym, exchanged sides."""
