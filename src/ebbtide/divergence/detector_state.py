"""Records of detectors as plain data, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ebbtide.divergence.signals import LoopKind

_T = TypeVar("_T")

# How the fields that JSON cannot carry are written, and read again.
_WRITTEN: dict[type, Callable[[Any], Any]] = {
    bytes: bytes.hex,
    frozenset: lambda items: sorted(item.hex() if isinstance(item, bytes) else item for item in items),
    dict: lambda errors: [error.hex() for error in errors],
}
_READ: dict[str, Callable[[Any], Any]] = {
    "key": bytes.fromhex,
    "answer": bytes.fromhex,
    "grown_start": bytes.fromhex,
    "kind": LoopKind,
    "tools": tuple,
    "numbers": tuple,
    "ranges": lambda ranges: [(start, end) for start, end in ranges],
    "words": lambda words: None if words is None else frozenset(words),
    "members": lambda members: frozenset(map(bytes.fromhex, members)),
    "errors": lambda errors: dict.fromkeys(map(bytes.fromhex, errors)),
}


def fields_of(item: Any) -> dict[str, Any]:
    """The fields of a record, as plain data that JSON can carry."""
    values = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    return {
        name: _WRITTEN[type(value)](value) if type(value) in _WRITTEN else value
        for name, value in values.items()
    }


def item_of(kind: type[_T], values: Mapping[str, Any]) -> _T:
    """The record that `fields_of` described."""
    if any(type(value) is dict for value in values.values()):
        raise TypeError(f"{kind.__name__}: a table among its fields")
    return kind(**{name: _READ[name](value) if name in _READ else value for name, value in values.items()})
