"""What stands above a markdown page between two lines ``---``: names and values, as the simple part of YAML.

A value is written as JSON, which is YAML as well, so no text can end the block or add a name to it. Read are
values on one line (JSON, in quotes, or bare) and lists of such values, one a line; anything else of YAML is
kept as its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_MARK = "---"
_ENTRY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*?))?[ \t]*")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*?)[ \t]*")
# What JSON lets stand and YAML does not, or what ends a line for somebody.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def front_matter(values: Mapping[str, Any]) -> str:
    r"""The block, with the lines around it; a value that is None is left out.

    >>> print(front_matter({"status": "accepted\n---", "tags": ["a", "b"]}))
    ---
    status: "accepted\n---"
    tags: ["a", "b"]
    ---
    """
    lines = [f"{name}: {_value(value)}" for name, value in values.items() if value is not None]
    return "\n".join([_MARK, *lines, _MARK])


def split_front_matter(page: str) -> tuple[dict[str, Any], str]:
    """The values above a page, and the page below them; no values where it does not start with a block."""
    lines = page.split("\n")
    if lines[0].rstrip() != _MARK:
        return {}, page
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() in (_MARK, "...")), None)
    if end is None:
        return {}, page
    return _values(lines[1:end]), "\n".join(lines[end + 1 :])


def _values(lines: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    name = None
    for line in lines:
        if entry := _ENTRY.fullmatch(line):
            name = entry[1]
            values[name] = _read(entry[2] or "")
        elif name and (part := _ITEM.fullmatch(line)):
            before = values[name]
            values[name] = [*(before if isinstance(before, list) else []), _read(part[1])]
    return values


def _read(text: str) -> Any:
    if text[:1] == "'" and text[-1:] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    bare = text.partition(" #")[0].rstrip() if text[:1] not in ('"', "[", "{") else text
    try:
        return json.loads(bare, parse_constant=str)
    except (ValueError, RecursionError):
        if bare.startswith("[") and bare.endswith("]"):
            return [_read(part.strip()) for part in bare[1:-1].split(",") if part.strip()]
        return None if bare in ("", "~") else bare


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
