"""A setting of a coding agent in a file of JSON or TOML: its value, and the file with another one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ebbtide.errors import ConfigError
from ebbtide.service.hooks.install.settings_json import SettingsJson

_TOML: Final = ".toml"
_TABLE: Final = re.compile(r"^\s*\[", re.MULTILINE)


def value_in(path: Path, keys: Sequence[str]) -> Any:
    """Returns the value of a setting; None where it is not set.

    Args:
        path: The file, which need not be there.
        keys: The place of the setting, from outside to inside.

    Raises:
        ConfigError: The file cannot be read.
    """
    value: Any = _toml(path)[1] if path.suffix == _TOML else SettingsJson(path).value
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def content_with(path: Path, keys: Sequence[str], value: Any) -> bytes:
    """Returns the content of a file with another value of a setting; everything else stays as it is written.

    Args:
        path: The file, which need not be there.
        keys: The place of the setting, from outside to inside; in TOML it is one key, outside of all tables.
        value: Its value; None takes it out, with the tables around it that hold nothing else.

    Raises:
        ConfigError: The file cannot be read, or has another shape at that place.
    """
    if path.suffix == _TOML:
        (key,) = keys
        return _changed_toml(path, key, value).encode()
    settings = SettingsJson(path)
    tables = [settings.value]
    for key in keys[:-1]:
        table = tables[-1].setdefault(key, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{path}: `{key}` has an unknown form; nothing was changed")
        tables.append(table)
    if value is not None:
        tables[-1][keys[-1]] = value
    else:
        tables[-1].pop(keys[-1], None)
        for outer, key, table in reversed(list(zip(tables, keys, tables[1:], strict=False))):
            if not table:
                del outer[key]
    return settings.text().encode()


def _toml(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_bytes().decode() if path.exists() else ""
        return text, tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}. Repair it first; nothing was changed") from error


def _changed_toml(path: Path, key: str, value: Any) -> str:
    text, before = _toml(path)
    table = _TABLE.search(text)
    end = table.start() if table else len(text)
    line = re.compile(rf"^{re.escape(key)}[ \t]*=[ \t]*([^\s#]+)[^\n]*(?:\n|\Z)", re.MULTILINE)
    found = line.search(text, 0, end)
    if found is None:
        newline = "\r\n" if "\r\n" in text else "\n"
        changed = text if value is None else f"{key} = {value}{newline}{text}"
    elif value is None:
        changed = text[: found.start()] + text[found.end() :]
    else:
        changed = text[: found.start(1)] + str(value) + text[found.end(1) :]
    wanted = {name: item for name, item in before.items() if name != key}
    if value is not None:
        wanted[key] = value
    # The line may stand inside a text of several lines: the result tells.
    try:
        is_right = tomllib.loads(changed) == wanted
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:
        raise ConfigError(f"{path}: `{key}` cannot be changed in place; nothing was changed")
    return changed
