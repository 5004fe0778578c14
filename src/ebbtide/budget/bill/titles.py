"""Names and lengths of what events carried, for a person to know them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ebbtide.text.excerpt import one_line

_SHOWN: Final = 80  # characters of a title
_LOOKED_AT: Final = 400  # characters of an argument
_DEEPEST: Final = 20
_ITEM: Final = 4  # characters that a number or the form of an item adds
_SAYING: Final = ("command", "cmd", "pattern", "query", "q", "url")
_TASKS: Final = ("description", "task_name", "title", "prompt", "message", "task")
_FILES: Final = frozenset(
    "file_path filepath path notebook_path filename file absolute_path target_file".split()
)


def call_title(name: str, args: object) -> str:
    """A call in one line: its name, and the argument that says most.

    >>> call_title("Read", {"file_path": "src/app.py", "limit": 40}), call_title("ls", {})
    ('Read src/app.py', 'ls')
    """
    value: object = args
    if isinstance(args, Mapping):
        values = (args.get(key) for key in _SAYING)
        value = next((item for item in (*values, file_of(args), *args.values()) if _is_text(item)), None)
    if not isinstance(value, str) or not value:
        return name
    words = one_line(value[:_LOOKED_AT], _SHOWN)
    return words if words.startswith(name) else f"{name} {words}"


def task_title(args: object) -> str:
    """The task that a call gives to the agent that it starts, in one line; empty where it states none.

    >>> task_title({"description": "Explore the tabs", "prompt": "Look at ..."})
    'Explore the tabs'
    """
    if not isinstance(args, Mapping):
        return ""
    value = next((item for item in map(args.get, _TASKS) if _is_text(item)), None)
    return one_line(value[:_LOOKED_AT], _SHOWN) if isinstance(value, str) else ""


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def file_of(args: object) -> str | None:
    """The file that a call names; None where it names none."""
    if not isinstance(args, Mapping):
        return None
    for name in args:
        if name in _FILES:
            value = args[name]
            if type(value) is str and value and "\n" not in value:
                return value
    return None


def length_of(value: object, depth: int = 0) -> int:
    """Characters of arguments or an answer, as a model reads them, about."""
    if type(value) is str:
        return len(value)
    if value is None or depth > _DEEPEST:
        return 0
    if isinstance(value, Mapping):
        return sum(len(str(key)) + _ITEM + length_of(item, depth + 1) for key, item in value.items())
    if isinstance(value, list | tuple):
        return sum(_ITEM + length_of(item, depth + 1) for item in value)
    return _ITEM
