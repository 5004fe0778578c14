"""Answers of any framework as the text that a model reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

from ebbtide.events.identity import without_notes
from ebbtide.events.object_fields import fields_of

_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
_OPAQUE: Final = re.compile(r"<[\w.<>]+( object)?>")  # the text form that says nothing but the class
#: Where objects of frameworks hold what the model reads, in this order.
_CONTENTS: Final = ("text", "content", "contents", "output", "result", "value", "data")
_DEEPEST: Final = 12
_HASH: Final = 8  # bytes


def answer_text(answer: object) -> str | None:
    r"""Returns the answer of a tool or a model as text; equal answers give equal texts.

    A text is itself. Lists of parts are their texts, a line each. Other data is JSON. An object is what it
    holds, or its text form without the addresses in it. Notes of ours that a framework has appended are left
    out.

    Returns:
        The text; ``""`` where there is none. None where nothing is known of what the object holds: no two
        such answers are equal.

    >>> answer_text([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), answer_text({"n": 1})
    ('a\nb', '{"n": 1}')
    >>> answer_text(object()), answer_text(None), answer_text(ValueError("no such file"))
    (None, '', 'ValueError: no such file')
    """
    try:
        text = _text(answer, 0)
    except Exception:  # noqa: BLE001 - a foreign object can do anything; then it is not known
        return None
    return None if text is None else str(without_notes(text))


def _text(value: object, depth: int) -> str | None:
    if isinstance(value, str):
        return str.__str__(value)
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{len(value)} bytes, {blake2b(value, digest_size=_HASH).hexdigest()}"
    if isinstance(value, BaseException):
        return _form(f"{type(value).__name__}: {value}")
    if depth >= _DEEPEST:
        return None
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return _lines(value, depth)
    if isinstance(value, set | frozenset):
        return _lines(sorted(value, key=repr), depth)
    return _object(value, depth)


def _lines(values: Any, depth: int) -> str | None:
    if all(isinstance(value, str | int | float | bool | None) for value in values):
        return "\n".join(values) if all(isinstance(value, str) for value in values) else json.dumps(values)
    texts = [_text(value, depth + 1) for value in values]
    return None if None in texts else "\n".join(text for text in texts if text)


def _object(value: object, depth: int) -> str | None:
    fields = fields_of(value)
    is_part = "type" in fields or "role" in fields or len(fields) == 1
    if is_part:  # other data may have such a field too, and more beside it by which two answers differ
        contents = [fields[name] for name in _CONTENTS if fields.get(name) is not None]
        content = next((item for item in contents if item != ""), "" if contents else None)
        if content is not None:
            return _text(content, depth + 1)
    if isinstance(value, Mapping):
        return _json(value, depth)
    public = {name: item for name, item in fields.items() if not name.startswith("_")}
    form = str(value)
    if _OPAQUE.fullmatch(_form(form)):
        return _json(public, depth) if public else None
    return _form(form)


def _json(record: Mapping[Any, Any], depth: int) -> str | None:
    items: dict[str, Any] = {}
    for key, item in record.items():
        if isinstance(item, str | int | float | bool | None):
            items[str(key)] = item
        elif isinstance(item, Mapping | list | tuple):
            try:
                json.dumps(item)
                items[str(key)] = item
            except (TypeError, ValueError):
                items[str(key)] = _text(item, depth + 1)
        else:
            items[str(key)] = _text(item, depth + 1)
        if items[str(key)] is None and item is not None:
            return None
    return json.dumps(items, ensure_ascii=False)


def _form(text: str) -> str:
    """Returns a text form without addresses."""
    return _ADDRESS.sub("", text)
