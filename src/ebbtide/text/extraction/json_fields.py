"""The texts of a JSON value, each with the name of its field and its place in the source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"(?P<key>\s*:)?|[\[\]{}]', re.DOTALL)


class Field(NamedTuple):
    """A text, its quotes and escapes resolved, at ``source[start:end]``.

    `kind` is that of the innermost field around it whose name is known, or None; `direct` is False where
    fields of other names lie between.
    """

    kind: str | None
    text: str
    start: int
    end: int
    direct: bool


def is_json(source: str) -> bool:
    """Returns True if `source` is a JSON object or array."""
    if source.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(source)
    except (ValueError, RecursionError):
        return False
    return True


def json_fields(source: str, kinds: Mapping[str, str]) -> Iterator[Field]:
    """Yields every text in a JSON value that is not a name, in order.

    Args:
        source: The value, as `is_json` knows it.
        kinds: Kind by field name, in lower case and letters only: ``open_questions`` is ``openquestions``.
    """
    around: list[tuple[str | None, bool]] = []
    field: tuple[str | None, bool] = (None, True)
    for token in _TOKEN.finditer(source):
        mark = token[0][0]
        if mark in "[{":
            around.append(field)
        elif mark in "]}":
            field = around.pop()
        elif token["key"]:
            kind = kinds.get(_name(token[0]))
            field = (kind, True) if kind else (around[-1][0], False)
        else:
            yield Field(field[0], _text(token[0]), *token.span(), field[1])


@lru_cache(maxsize=512)
def _name(token: str) -> str:
    """Returns the letters of a name, in lower case."""
    return "".join(filter(str.isalpha, _text(token.rstrip(": \t\r\n")))).lower()


def _text(token: str) -> str:
    return str(json.loads(token)) if "\\" in token else token[1:-1]
