"""The fields of an object of somebody else's class, under the names that it stores them by.

An answer of a provider is a dict, a pydantic model, a dataclass or a tuple with names. What it stores is
looked at, and what it would compute is not: an object that answers to every name has no fields here, and a
property that raises is not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_NONE: Mapping[str, Any] = {}
_NOT_OBJECTS = (str, bytes, int, float, list, set, frozenset, type, type(None))
# A class declares its fields under one of these: dataclasses, msgspec's structs, tuples with names.
_DECLARED = ("__dataclass_fields__", "__struct_fields__", "_fields")
# Pydantic stores here what its class does not declare, and what is private.
_BESIDE = ("__pydantic_extra__", "__pydantic_private__")
_MOST_CLASSES = 512


class _Way(NamedTuple):
    """Place of the fields of a class's instances: these names, or their state."""

    names: tuple[str, ...]
    is_pydantic: bool


_ways: dict[type, _Way] = {}


def fields_of(thing: object) -> Mapping[str, Any]:
    """Returns the fields of a dict or an object by name; none for a text, a number, a list or a class.

    Raises:
        Exception: Whatever the object's own code raises.
    """
    if isinstance(thing, dict):
        return thing
    if isinstance(thing, _NOT_OBJECTS):
        return _NONE
    kind = thing.__class__  # A proxy has the class of what it stands for.
    way = _ways.get(kind)
    if way is None:
        if len(_ways) >= _MOST_CLASSES:
            _ways.clear()
        way = _ways[kind] = _way_of(kind)
    if way.names:
        return {name: getattr(thing, name, None) for name in way.names}
    if isinstance(thing, Mapping):
        return thing
    state = getattr(thing, "__dict__", None)
    if type(state) is not dict:
        return _NONE
    if way.is_pydantic:
        for attribute in _BESIDE:
            # Mistral's models store them among the others.
            beside = state.get(attribute) or getattr(thing, attribute, None)
            if beside and type(beside) is dict:
                state = {**beside, **state}
    return state


def _way_of(kind: type) -> _Way:
    for attribute in _DECLARED:
        names = getattr(kind, attribute, None)
        if isinstance(names, dict | tuple):
            return _Way(tuple(names), is_pydantic=False)
    slots = [base.__dict__.get("__slots__", ()) for base in kind.__mro__]
    names = tuple(name for part in slots for name in ([part] if isinstance(part, str) else part))
    is_pydantic = hasattr(kind, "__pydantic_fields_set__")
    return _Way(() if is_pydantic else names, is_pydantic=is_pydantic)
