"""Signs of formats: one of the first records of a document is like a record that is written down here.

A sign is data, so that telling a format loads no reader. It looks at the records that the reader would get.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.json_records import fitting, records_of

ABSENT: Final = object()  #: stands in a pattern for a key that must not be there
_RECORDS = 10  # of one JSON value
_ITEMS = 50  # of a list in a record


@dataclass(frozen=True, slots=True)
class RecordSign:
    """Sign of a format whose records are JSON.

    Args:
        lacks: Words for what a document without the sign lacks. They quote only names of the format, by which
            the nearest format is chosen for a file that nobody reads.
        pattern: A record of the format, as `is_like` takes it.
        is_first: Whether the first record has to be like it.
        is_one_value: Whether the format is one JSON value, never lines.
        otherwise: Words for a document that is no JSON; None: those of `lacks`.
    """

    lacks: str
    pattern: object
    is_first: bool = False
    is_one_value: bool = False
    otherwise: str | None = "not JSON"

    def refuse(self, document: Document, paths: tuple[str, ...]) -> str | None:
        """Returns why a document lacks the sign; None if it has it.

        Args:
            document: The document.
            paths: Where the records of the format stand in one JSON value.
        """
        is_lines = document.content is Content.JSON_LINES and not self.is_one_value
        if not is_lines and document.content is not Content.JSON:
            return self.otherwise or self.lacks
        records = document.head if is_lines else _records(document.head[0], paths)
        if self.is_first:
            records = document.head[:1]
        return None if any(is_like(record, self.pattern) for record in records) else self.lacks


def _records(value: Any, paths: tuple[str, ...]) -> Iterator[Any]:
    """One JSON value, and the first records in it."""
    yield value
    records = (record for _, record in records_of(value, fitting(paths, value)) if record is not value)
    yield from islice((record for record in records if isinstance(record, dict | list)), _RECORDS)


def is_like(value: object, pattern: object) -> bool:
    """Returns True if a value is like a pattern.

    A pattern is an object that has at least some keys; a list with an item; a class; the beginning of a text,
    as a regular expression; ``...`` for anything, `ABSENT` for nothing; a tuple of patterns, one of which
    fits; or the value itself.

    >>> is_like({"type": "user", "id": 7}, {"type": ("user", "agent"), "id": ..., "text": ABSENT})
    True
    >>> is_like({"content": [{"type": "text"}, {"type": "call"}]}, {"content": [{"type": re.compile("c")}]})
    True
    >>> is_like({"type": "user"}, {"type": dict})
    False
    """
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(
            is_like(value.get(key, ABSENT), inner) for key, inner in pattern.items()
        )
    if isinstance(pattern, tuple):
        return any(is_like(value, inner) for inner in pattern)
    if isinstance(pattern, list):
        if not isinstance(value, list) or not pattern:
            return value == pattern
        return any(is_like(item, pattern[0]) for item in value[:_ITEMS])
    if isinstance(pattern, re.Pattern):
        return isinstance(value, str) and pattern.match(value) is not None
    if isinstance(pattern, type):
        return isinstance(value, pattern)
    return value is not ABSENT if pattern is ... else value == pattern
