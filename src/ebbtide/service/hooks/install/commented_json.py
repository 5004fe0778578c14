"""JSON with comments and trailing commas, as editors and agents accept it: read, and changed in place.

What is not changed stays as it was written, character for character.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from json.decoder import py_scanstring  # type: ignore[attr-defined] # not in the stubs
from typing import Any, Final, NamedTuple

_BETWEEN: Final = re.compile(r"(?:[ \t\r\n]|//[^\n]*(?:\n|\Z)|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)*")
_SCALAR: Final = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
_DEEPEST: Final = 200


@dataclass(slots=True)
class JsonNode:
    """A value, and where it stands."""

    value: Any
    start: int
    end: int
    members: dict[str, tuple[int, JsonNode]] = field(
        default_factory=dict
    )  #: of an object, with the place of the key
    items: list[JsonNode] = field(default_factory=list)  #: of a list


class TextEdit(NamedTuple):
    """A change of a text."""

    start: int
    end: int
    text: str


def parsed(text: str) -> JsonNode:
    """Returns the value of a text.

    Raises:
        ValueError: It is no JSON, comments and trailing commas aside; with the line.
    """
    node = _value(text, _after(text, 0), 0)
    rest = _after(text, node.end)
    if rest != len(text):
        raise json.JSONDecodeError("more than one value", text, rest)
    return node


def changed(text: str, value: Any) -> str:
    r"""Returns the text with the changes that make it stand for a value.

    >>> print(changed('{"a": 1, // the first\n "b": [1]}', {"a": 1, "b": [1, 2]}))
    {"a": 1, // the first
     "b": [1, 2]}
    """
    unit = re.search(r"\n([ \t]+)\S", text)
    while (edit := _edit(text, parsed(text), value, unit[1] if unit else "  ")) is not None:
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _after(text: str, place: int) -> int:
    found = _BETWEEN.match(text, place)
    return found.end() if found else place


def _value(text: str, place: int, depth: int) -> JsonNode:
    if depth > _DEEPEST:
        raise json.JSONDecodeError("too deep", text, place)
    first = text[place : place + 1]
    if first == '"':
        string, end = py_scanstring(text, place + 1)
        return JsonNode(string, place, end)
    if first == "{":
        return _object(text, place, depth)
    if first == "[":
        return _list(text, place, depth)
    scalar = _SCALAR.match(text, place)
    if scalar is None:
        raise json.JSONDecodeError("expected a value", text, place)
    return JsonNode(json.loads(scalar[0]), place, scalar.end())


def _object(text: str, start: int, depth: int) -> JsonNode:
    node = JsonNode({}, start, start)
    place = _after(text, start + 1)
    while text[place : place + 1] != "}":
        if text[place : place + 1] != '"':
            raise json.JSONDecodeError("expected a key in quotes", text, place)
        key, end = py_scanstring(text, place + 1)
        colon = _after(text, end)
        if text[colon : colon + 1] != ":":
            raise json.JSONDecodeError("expected a colon", text, colon)
        member = _value(text, _after(text, colon + 1), depth + 1)
        node.members.pop(key, None)
        node.members[key] = (place, member)
        node.value[key] = member.value
        place = _next(text, member.end, "}")
    node.end = place + 1
    return node


def _list(text: str, start: int, depth: int) -> JsonNode:
    node = JsonNode([], start, start)
    place = _after(text, start + 1)
    while text[place : place + 1] != "]":
        item = _value(text, place, depth + 1)
        node.items.append(item)
        node.value.append(item.value)
        place = _next(text, item.end, "]")
    node.end = place + 1
    return node


def _next(text: str, end: int, closing: str) -> int:
    """Returns where the next member begins, or where the end stands."""
    place = _after(text, end)
    if text[place : place + 1] == ",":
        return _after(text, place + 1)
    if text[place : place + 1] != closing:
        raise json.JSONDecodeError(f"expected a comma or {closing}", text, place)
    return place


def _edit(text: str, node: JsonNode, value: Any, unit: str) -> TextEdit | None:
    """Returns the first of the changes that a value asks for; None if there is none."""
    old = node.value
    if old == value and type(old) is type(value):
        return None
    if isinstance(old, dict) and isinstance(value, dict):
        members = list(node.members.items())
        for place, (key, (_, member)) in enumerate(members):
            if key not in value:
                return _removal(text, node, [(start, each.end) for _, (start, each) in members], place)
            edit = _edit(text, member, value[key], unit)
            if edit is not None:
                return edit
        key = next(key for key in value if key not in old)
        return _addition(text, node, key, value[key], unit)
    if isinstance(old, list) and isinstance(value, list):
        place = next((n for n, item in enumerate(old) if n >= len(value) or item != value[n]), len(old))
        if place == len(old):
            return _addition(text, node, None, value[place], unit)
        if old[place + 1 :] == value[place:] or place >= len(value):
            return _removal(text, node, [(each.start, each.end) for each in node.items], place)
        return _edit(text, node.items[place], value[place], unit)
    return TextEdit(node.start, node.end, _written(value, unit, _indent(text, node.start)))


def _removal(text: str, node: JsonNode, spans: list[tuple[int, int]], place: int) -> TextEdit:
    """Returns the edit that takes a member away, with its comma and the rest of its line."""
    start, end = spans[place]
    if place + 1 < len(spans):
        return TextEdit(start, spans[place + 1][0], "")
    comma = _after(text, end)
    if text[comma : comma + 1] == ",":
        end = comma + 1
    if place:
        return TextEdit(spans[place - 1][1], end, "")
    is_alone = not (text[node.start + 1 : start] + text[end : node.end - 1]).strip()
    return TextEdit(node.start + 1, node.end - 1, "") if is_alone else TextEdit(start, end, "")


def _addition(text: str, node: JsonNode, key: str | None, value: Any, unit: str) -> TextEdit:
    """Returns the edit that puts a member behind the others."""
    ends = [each.end for each in node.items] or [each.end for _, each in node.members.values()]
    around = _indent(text, node.start)
    is_in_lines = "\n" in text[node.start : node.end] or not ends
    gap = f"\n{around}{unit}" if is_in_lines else " "
    name = "" if key is None else f"{json.dumps(key)}: "
    written = gap + name + _written(value, unit, around + unit if is_in_lines else around)
    if not ends:
        return TextEdit(node.end - 1, node.end - 1, f"{written}\n{around}")
    comma = _after(text, ends[-1])
    if text[comma : comma + 1] == ",":
        return TextEdit(comma + 1, comma + 1, f"{written},")
    return TextEdit(ends[-1], ends[-1], f",{written}")


def _written(value: Any, unit: str, around: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"\n{around}")


def _indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]
