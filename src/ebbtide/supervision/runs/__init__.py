"""Many runs at once: one supervisor each, kept, put away and brought back."""
