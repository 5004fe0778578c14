"""Numbers of things, for files that need no more of the report than that."""

from __future__ import annotations


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Returns a number of things.

    >>> count(1, "event"), count(2400, "event"), count(0, "branch", "branches")
    ('1 event', '2,400 events', '0 branches')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
