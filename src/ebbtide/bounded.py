"""A dict of at most so many entries: one more lets go of the first."""

from __future__ import annotations

from collections import OrderedDict
from typing import Self, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(OrderedDict[K, V]):
    """A dict that lets go of its first entry for each new one that is too many.

    An entry that is set anew keeps its place, as in any dict; `renew` makes it the last.

    >>> latest = Bounded(2)
    >>> latest["a"], latest["b"], latest["c"] = 1, 2, 3
    >>> dict(latest)
    {'b': 2, 'c': 3}

    Args:
        most: Entries that are kept; at 0 nothing is.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def copy(self) -> Self:
        """Returns another one with the same bound and entries."""
        other = type(self)(self._most)
        other.update(self)
        return other

    __copy__ = copy

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > self._most:
            self.popitem(last=False)

    def put(self, key: K, value: V) -> tuple[K, V] | None:
        """Set an entry.

        Returns:
            The entry that made room for it; None where there was room.
        """
        super().__setitem__(key, value)
        return self.popitem(last=False) if len(self) > self._most else None

    def renew(self, key: K, value: V) -> None:
        """Set an entry, and make it the last that is let go."""
        self[key] = value
        if key in self:
            self.move_to_end(key)
