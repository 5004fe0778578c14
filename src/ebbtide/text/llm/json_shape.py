"""Whether a JSON value has the shape that a schema asks for: the part of JSON Schema that prompts need."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ebbtide.errors import ConfigError

_KEYWORDS = frozenset({"type", "properties", "required", "items", "enum", "description"})
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
}
_SHOWN = 60  # characters of a value in a message


def check_schema(schema: Mapping[str, Any]) -> None:
    """Refuse a schema that asks for more than `shape_problem` looks at.

    Raises:
        ConfigError: A keyword or a type is not known here.
    """
    unknown = schema.keys() - _KEYWORDS
    if unknown:
        raise ConfigError(
            f"schema keywords {', '.join(sorted(unknown))}: expected {', '.join(sorted(_KEYWORDS))}"
        )
    if schema.get("type", "string") not in _TYPES:
        raise ConfigError(f"schema type {schema['type']!r}: expected {', '.join(_TYPES)}")
    items = [schema["items"]] if "items" in schema else []
    for part in (*schema.get("properties", {}).values(), *items):
        check_schema(part)


def shape_problem(value: object, schema: Mapping[str, Any], path: str = "the reply") -> str | None:
    """What is wrong with `value`, and where; None if it has the shape. Keys that nobody asked for are fine.

    Args:
        value: As parsed from JSON.
        schema: As `check_schema` takes it.
        path: Where the value stands.

    >>> shape_problem({"n": [1]}, {"properties": {"n": {"type": "array", "items": {"type": "string"}}}})
    'the reply.n[0]: expected string, found 1'
    """
    expected = schema.get("type")
    if expected is not None and not isinstance(value, _TYPES[expected]):
        return f"{path}: expected {expected}, found {_shown(value)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{path}: expected one of {', '.join(map(_shown, schema['enum']))}, found {_shown(value)}"
    parts: list[tuple[object, Mapping[str, Any], str]] = []
    if isinstance(value, dict):
        missing = next((key for key in schema.get("required", ()) if key not in value), None)
        if missing is not None:
            return f"{path}: the key {missing!r} is missing"
        properties = schema.get("properties", {})
        parts += [(value[key], part, f"{path}.{key}") for key, part in properties.items() if key in value]
    if isinstance(value, list) and "items" in schema:
        parts += [(item, schema["items"], f"{path}[{at}]") for at, item in enumerate(value)]
    return next(filter(None, (shape_problem(*part) for part in parts)), None)


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]
