"""Arguments and answers as plain data of bounded size, whatever a program hands over.

What follows an event reads its arguments several times over. Here they are made such that this is safe and
quick: plain dicts, lists, texts and numbers, of at most `LARGEST` characters and `MOST_ITEMS` items. No
method of a foreign object is called but its text form, and `items` of a mapping; what never ends is left
after as many items.

A longer text keeps its head and its tail, with its length and a hash of the whole between them, so that two
texts are equal here only where they are. Other data that is too large becomes a hash of the whole. What
contains itself, is nested deeper than `DEEPEST`, has no end, or fails while it is read cannot be read: it
becomes `UNREADABLE`, which equals nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from marshal import dumps
from typing import Any, Final

from ebbtide.events.event import DEEPEST, FLAT, LARGEST, MOST_ITEMS, WIDEST, is_plain_value
from ebbtide.events.identity import OPAQUE, canonical

#: Stands for what cannot be read. It equals nothing, since its text form is an address.
UNREADABLE: Final = object()

_SHARE = 80_000  # characters of the head of a longer text that are kept, and of its tail
_MOST_HASHED = 2_000_000  # items of plain data that is too large, and is hashed
_MOST_CONTAINERS = 100_000  # lists and tables among them
_HASH = 16  # bytes
_VERSION = 2  # of `marshal`: values alone, without references, so that equal ones give equal bytes


class _UnreadableError(Exception):
    """Data without an end, or that says nothing of what it holds."""


def plain_value(value: object) -> object:
    """Returns a value as plain data of bounded size, or `UNREADABLE`.

    >>> plain_value({"path": "a", "of": range(3)})
    {'path': 'a', 'of': 'range: range(0, 3)'}
    >>> len(plain_value("x" * 10**7)) < LARGEST
    True
    """
    if is_plain_value(value):
        return value
    try:
        value = _Copy().of(value, 0)
    except Exception:  # noqa: BLE001, S110 - a foreign object can do anything; what is large can be hashed
        pass
    else:
        if is_plain_value(value):
            return value
    try:
        return _digest(value)
    except Exception:  # noqa: BLE001 - likewise
        return UNREADABLE


def shortened(text: str) -> str:
    """Returns a long text with its middle left out; a short one is itself."""
    if len(text) <= LARGEST:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH).hexdigest()
    return f"{text[:_SHARE]}\n[... {len(text)} characters, {digest} ...]\n{text[-_SHARE:]}"


def id_text(value: object) -> str:
    """Returns the text form of an id that is no text; "" if it has none.

    >>> id_text(7), id_text(("run", 7)), id_text(object())
    ('7', '["run",7]', '')
    """
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        copy = plain_value(value)
        return "" if copy is UNREADABLE else copy if isinstance(copy, str) else canonical(copy) or ""
    text = str.__str__(str(value))
    return "" if OPAQUE.search(text[:LARGEST]) else text


class _Copy:
    """Copier of data into plain data, text by text, within the bounds."""

    def __init__(self) -> None:
        self._items = 0

    def of(self, value: object, depth: int) -> object:
        if value is None or type(value) in (float, bool):
            return value
        if isinstance(value, str):
            return shortened(str.__str__(value))
        if isinstance(value, int):
            return _whole(int.__int__(value))
        if isinstance(value, float):
            return float.__float__(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return {"bytes": blake2b(value).hexdigest()}
        if depth >= DEEPEST:
            raise _UnreadableError
        if isinstance(value, Mapping):
            pairs = dict.items(value) if type(value) is dict else value.items()
            return {self._key(key, depth + 1): self.of(item, depth + 1) for key, item in self._some(pairs)}
        if isinstance(value, list | tuple):
            items = list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value)
            return [self.of(item, depth + 1) for item in self._some(items)]
        if isinstance(value, set | frozenset):
            return {"set": sorted([canonical(self.of(item, depth + 1)) or "" for item in self._some(value)])}
        return _form(value)

    def _key(self, key: object, depth: int) -> object:
        copy = self.of(key, depth)
        return copy if type(copy) in FLAT else canonical(copy)

    def _some(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self._items += 1
            if self._items > MOST_ITEMS:
                raise _UnreadableError
            yield item


def _form(value: object) -> str:
    """Returns the class and the text form of a foreign object."""
    text = str.__str__(repr(value))
    if OPAQUE.search(text[:LARGEST]):
        raise _UnreadableError
    return shortened(f"{type(value).__qualname__}: {text}")


def _whole(number: int) -> int | str:
    if -WIDEST < number < WIDEST:
        return number
    size = number.bit_length() // 8 + 1
    digest = blake2b(number.to_bytes(size, "little", signed=True), digest_size=_HASH).hexdigest()
    return f"[a whole number of {size} bytes, {digest}]"


def _digest(value: object) -> str:
    """Returns a hash of plain data, level by level: builtins alone, in the order of their items."""
    hashing = blake2b(digest_size=_HASH)
    level: list[Any] = [value]
    items = containers = 0
    for _ in range(DEEPEST):
        row: list[Any] = []
        nested: list[Any] = []
        for item in level:
            kind = type(item)
            if kind in FLAT:
                row.append(item)
                continue
            if kind not in (dict, list, tuple):
                raise _UnreadableError
            items += len(item)
            containers += 1
            if items > _MOST_HASHED or containers > _MOST_CONTAINERS:
                raise _UnreadableError
            if kind is dict:
                if not FLAT.issuperset(map(type, item)):
                    raise _UnreadableError
                row.append(list(item))
                nested += item.values()
            else:
                row.append((len(item),))
                nested += item
        hashing.update(dumps(row, _VERSION))
        if not nested:
            return f"[{items} items, {hashing.hexdigest()}]"
        level = nested
    raise _UnreadableError
