"""The settings in a project's file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ebbtide.errors import ConfigError
from ebbtide.profile.supervision import IgnoreRules
from ebbtide.settings_file import offer, read_settings, read_text

#: The keys of the file, and the options that they stand for.
KEYS = {
    "profile": "profile",
    "tools": "tools",
    "prices": "prices",
    "limits": "limits",
    "fail-on": "fail_on",
    "baseline": "baseline",
    "ignore": "ignore",
    "budgets": "budgets",
    "alerts": "alerts",
}
_TABLES = ("tools", "prices", "limits", "budgets", "alerts")
_IGNORED = ("rules", "tools", "runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSettings:
    """The settings of a project.

    Args:
        file: Where they are, as messages name it; None where there is no file.
        options: Value of each option that the file sets, by its name; files in it can be opened from here.
        ignore: What is ignored: rules and tools.
        ignored_runs: Patterns of paths of runs that are left out.
        lines: Line of each key, from 1, where it is plain.
    """

    file: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    ignore: IgnoreRules = field(default_factory=IgnoreRules)
    ignored_runs: tuple[str, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The folder of the file."""
        return os.path.dirname(self.file or "")  # noqa: PTH120 - pathlib takes long to load

    @classmethod
    def load(cls, path: str) -> ProjectSettings:
        """The settings in a file.

        Raises:
            ConfigError: It cannot be read, has an unknown key, or a value that cannot be.
        """
        try:
            name = min(path, os.path.relpath(path), key=len)
        except ValueError:  # another drive
            name = path
        return read_settings(name, lambda table: cls._of(name, table))

    @classmethod
    def _of(cls, name: str, table: Mapping[str, Any]) -> ProjectSettings:
        folder = os.path.dirname(name)  # noqa: PTH120
        for key in table:
            if key not in KEYS:
                raise ConfigError(f"{key}: no such setting; {offer(key, KEYS)}")
        options: dict[str, Any] = {}
        for key, value in table.items():
            if key == "fail-on":
                options["fail_on"] = [value] if isinstance(value, str) else _texts(key, value)
            elif key in _TABLES and isinstance(value, Mapping):
                options[key] = name
            elif key == "profile" and isinstance(value, str) and not value.endswith(".toml"):
                options[key] = value
            elif key != "ignore":
                if not isinstance(value, str) or not value:
                    form = "a file, or a table" if key in _TABLES else "a text"
                    raise ConfigError(f"{key} = {value!r:.60}: expected {form}")
                options[key] = os.path.join(folder, value)  # noqa: PTH118
        ignore = table.get("ignore", {})
        if not isinstance(ignore, Mapping):
            raise ConfigError(f"ignore = {ignore!r:.60}: expected a table")
        for key in ignore:
            if key not in _IGNORED:
                raise ConfigError(f"ignore.{key}: no such setting; {offer(key, _IGNORED)}")
        lists = {key: _texts(f"ignore.{key}", ignore.get(key, [])) for key in _IGNORED}
        try:
            rules = IgnoreRules(rules=tuple(lists["rules"]), tools=tuple(lists["tools"]))
        except ConfigError as error:
            raise ConfigError(f"ignore.{error}") from error
        return cls(
            file=name,
            options=options,
            ignore=rules,
            ignored_runs=tuple(lists["runs"]),
            lines=_lines(name, table),
        )


def _texts(key: str, value: object) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ConfigError(f"{key} = {value!r:.60}: expected a list of texts")
    for item in value:
        if not isinstance(item, str) or not item:
            raise ConfigError(f"{key}: {item!r:.60}: expected a text")
    return list(value)


def _lines(name: str, keys: Mapping[str, Any]) -> dict[str, int]:
    """The line of each key that begins exactly one line."""
    lines = read_text(name, 1 << 20).splitlines()
    table = ""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines, start=1):
        header = re.match(r"\s*\[+\s*(?:tool\.ebbtide\.?)?([\w.-]*)", line)
        if header:
            table = line.strip()
            if "tool.ebbtide" in line or name.endswith("ebbtide.toml"):
                places.setdefault(header[1].partition(".")[0], []).append(number)
        elif table in ("", "[tool.ebbtide]"):
            key = re.match(r'\s*"?([\w-]+)"?\s*[=.]', line)
            if key:
                places.setdefault(key[1], []).append(number)
    return {key: places[key][0] for key in keys if key in places}
