"""Parts that readers of records share: fields, tokens, joined calls, order in time."""
