"""Settings in TOML files: one way to read them, and one kind of error that names the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Any, TypeVar

from ebbtide.errors import ConfigError

Settings = TypeVar("Settings")


def read_settings(
    path: str | PathLike[str], make: Callable[[Mapping[str, Any]], Settings], *, section: str | None = None
) -> Settings:
    """What `make` makes of a TOML file.

    Args:
        path: The file.
        make: Takes the tables of the file, or those of its section.
        section: The table ``[section]`` that the file has to have; None takes the whole file.

    Raises:
        ConfigError: No such file, not TOML, no such section, or whatever `make` says, with the file's name.
    """
    import tomllib  # this and pathlib take 10 ms to load, and most runs have no such file
    from pathlib import Path

    name = fspath(path)
    try:
        table: Any = tomllib.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{name}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name}: not a TOML file: {error}") from error
    if section is not None:
        if section not in table:
            there = ", ".join(f"[{key}]" for key in table) or "nothing"
            raise ConfigError(f"{name}: there is no table [{section}], only {there:.200}")
        table = table[section]
        if not isinstance(table, Mapping):
            raise ConfigError(f"{name}: {section} = {table!r:.60}: expected a table")
    try:
        return make(table)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from error


def read_package_data(package: str, name: str) -> dict[str, Any]:
    """The tables of a TOML file that is part of a package."""
    import tomllib
    from importlib.resources import files

    return tomllib.loads((files(package) / name).read_text(encoding="utf-8"))
