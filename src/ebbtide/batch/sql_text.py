"""Names and texts as SQL has them."""

from __future__ import annotations


def quoted(name: str) -> str:
    """The name of a column or a table."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """A text."""
    return "'" + text.replace("'", "''") + "'"
