"""Questions to a chat model under a contract: a JSON schema, a check, one repair, and a way back."""
