"""Values by name, where a name may be a pattern."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Generic, TypeVar

_V = TypeVar("_V")
_REMEMBERED = 256  # names whose answer is kept: a model can make up any number of names


class NameTable(Generic[_V]):
    """Table whose keys may hold ``*``, ``?`` and ``[...]``, for look-ups of names.

    A key that equals the name comes first, then the first pattern that matches.

    >>> table = NameTable({"search_*": "search", "search_code": "code"})
    >>> [table.get(name) for name in ("search_web", "search_code", "fetch")]
    ['search', 'code', None]
    """

    def __init__(self, table: Mapping[str, _V]) -> None:
        self._table = dict(table)
        self._patterns = tuple(key for key in table if any(sign in key for sign in "*?["))
        self._values: dict[str, _V | None] = {}

    def __bool__(self) -> bool:
        return bool(self._table)

    @property
    def items(self) -> tuple[tuple[str, _V], ...]:
        """Keys with their values, in their order."""
        return tuple(self._table.items())

    @property
    def names(self) -> tuple[str, ...]:
        """Keys that are no patterns."""
        return tuple(key for key in self._table if key not in self._patterns)

    def all_of(self, name: str) -> list[_V]:
        """The values of all keys that match a name: its own first, then those of patterns in their order."""
        own = [self._table[name]] if name in self._table else []
        return own + [self._table[key] for key in self._patterns if key != name and fnmatchcase(name, key)]

    def get(self, name: str) -> _V | None:
        """Returns the value for `name`, or None."""
        try:
            return self._values[name]
        except KeyError:
            patterns = (pattern for pattern in self._patterns if fnmatchcase(name, pattern))
            key = name if name in self._table else next(patterns, None)
            value = None if key is None else self._table[key]
            if len(self._values) >= _REMEMBERED:
                self._values.clear()
            self._values[name] = value
            return value
