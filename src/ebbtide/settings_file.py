"""Settings in TOML files: one way to read them, and one kind of error that names the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike, fspath
from os.path import basename, dirname, join
from typing import Any, TypeVar

from ebbtide.errors import ConfigError
from ebbtide.regular_file import open_regular

Settings = TypeVar("Settings")

_LARGEST = 1 << 20  # bytes
_DEEPEST = 50  # parts of a key
# A key of many parts, as [a.b.c] or as a.b.c = 1: reading one takes time with the square of its length.
_DOTTED = re.compile(rf"(?:[^#]*[\[{{,])?\s*(?:(?:[\w-]+|\"[^\"]*\"|'[^']*')\s*\.\s*){{{_DEEPEST}}}")


def read_settings(
    path: str | PathLike[str], make: Callable[[Mapping[str, Any]], Settings], *, section: str | None = None
) -> Settings:
    """Returns the settings of a TOML file; of a ``pyproject.toml``, those of its table ``[tool.ebbtide]``.

    Args:
        make: Makes the settings of the tables of the file, or of its section.
        section: The table ``[section]`` that the file has to have; None takes the whole file.

    Raises:
        ConfigError: No such file, not TOML, no such section, or whatever `make` says, with the file's name.
    """
    name = fspath(path)
    table = _own_table(name, _tables(name))
    if table is None:
        raise ConfigError(f"{name}: there is no table [tool.ebbtide]")
    if section is not None:
        if section not in table:
            there = ", ".join(f"[{key}]" for key in table) or "nothing"
            like = meant(next(iter(table), ""), [section])
            raise ConfigError(f"{name}: there is no table [{section}], only {there:.200}{like}")
        table = table[section]
        if not isinstance(table, Mapping):
            raise ConfigError(f"{name}: {section} = {table!r:.60}: expected a table")
    try:
        return make(table)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from error


def has_settings(path: str | PathLike[str]) -> bool:
    """Returns True if a ``pyproject.toml`` has a table ``[tool.ebbtide]``.

    One that never names Ebbtide is not parsed.

    Raises:
        ConfigError: It cannot be read, or names Ebbtide and is not TOML.
    """
    name = fspath(path)
    return "ebbtide" in _text(name) and _own_table(name, _tables(name)) is not None


def read_text(path: str | PathLike[str], most: int) -> str:
    """Returns the text of a file of a size that is known to be enough.

    Args:
        most: Bytes that it may have.

    Raises:
        OSError: It cannot be read, or is no file.
        UnicodeDecodeError: It is no UTF-8.
        ConfigError: It is larger.
    """
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ConfigError(f"{fspath(path)}: more than {most:,} bytes")
    return data.decode()


def refuse_unknown(keys: Iterable[str], known: Sequence[str], *, of: str = "", kind: str = "setting") -> None:
    """Refuses a key of a table that is not known.

    Args:
        of: Place of the table, before the key in the message.
        kind: Noun for what the table holds.

    Raises:
        ConfigError: A key is not known; the message offers the known ones.

    >>> refuse_unknown({"stpes": 3}, ["steps", "tokens"], of="limits.", kind="limit")
    Traceback (most recent call last):
    ebbtide.errors.ConfigError: limits.stpes: no such limit; did you mean steps? There are steps, tokens
    """
    for key in keys:
        if key not in known:
            raise ConfigError(f"{of}{key}: no such {kind}; {offer(key, known)}")


def offer(name: str, names: Iterable[str]) -> str:
    """Returns what an error says after a name that does not exist: the one that it is like, and all of them.

    >>> offer("stpes", ["steps", "tokens"])
    'did you mean steps? There are steps, tokens'
    """
    every = list(names)
    like = nearest_name(name, every)
    there = f"here are {', '.join(every)}"
    return f"did you mean {like}? T{there}" if like else f"t{there}"


def meant(name: str, names: Iterable[str]) -> str:
    """Returns what an error says after the list of what is expected: the name among them that a name is like.

    >>> meant("stuk", ["stuck", "limit"])
    '; did you mean stuck?'
    """
    like = nearest_name(name, names)
    return f"; did you mean {like}?" if like else ""


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Returns the name that one is a slip of; None if it is like none."""
    import difflib

    return next(iter(difflib.get_close_matches(name, list(names), n=1)), None)


def read_package_data(name: str) -> dict[str, Any]:
    """Returns the tables of a TOML file that is part of this package, by its path in it."""
    return _tables(join(dirname(__file__), name))  # noqa: PTH118, PTH120 - pathlib takes long to load


def _own_table(name: str, table: dict[str, Any]) -> Any:
    if basename(name) != "pyproject.toml":  # noqa: PTH119 - pathlib takes long to load
        return table
    tool = table.get("tool", {})
    own = tool.get("ebbtide") if isinstance(tool, Mapping) else None
    if own is not None and not isinstance(own, Mapping):
        raise ConfigError(f"{name}: tool.ebbtide = {own!r:.60}: expected a table")
    return own


def _text(name: str) -> str:
    try:
        return read_text(name, _LARGEST)
    except OSError as error:
        raise ConfigError(f"{name}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name}: not a TOML file: {error}") from error


def _tables(name: str) -> dict[str, Any]:
    import tomllib  # this takes 5 to 10 ms to load, and most commands read no such file

    text = _text(name)
    try:
        if not _is_deep(text):
            return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not a TOML file: {error}") from error
    except RecursionError:
        pass
    raise ConfigError(f"{name}: nested too deeply to be read")


def _is_deep(text: str) -> bool:
    return any(line.count(".") >= _DEEPEST and _DOTTED.match(line) for line in text.splitlines())
