"""Places of databases: what a URL or a path names, and the user's folder for those that nobody names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from ebbtide.errors import ConfigError

#: What stands for a database that lives as long as its connection.
MEMORY: Final = ":memory:"
DECISIONS: Final = "decisions.db"  #: the decision log, where no other place is named
_POSTGRES: Final = ("postgresql://", "postgres://", "postgresql+psycopg://")


def sqlite_path(where: str | os.PathLike[str], what: str) -> str | None:
    """The file of SQLite that is named, or `MEMORY`; None where it is a database of a PostgreSQL server.

    Args:
        where: A path, ``:memory:``, ``sqlite:///path`` or ``postgresql://...``.
        what: What messages call it, such as an option. They never show more of a URL than its scheme.

    Raises:
        ConfigError: It names neither.
    """
    text = os.fspath(where)
    if isinstance(where, Path) or "://" not in text:
        path = text
    elif text.startswith(_POSTGRES):
        return None
    elif text.startswith("sqlite:///"):
        path = unquote(text.removeprefix("sqlite:///")) or MEMORY
    elif text == "sqlite://":
        path = MEMORY
    else:
        scheme = text.split("://", 1)[0]
        raise ConfigError(
            f"{what} {scheme}://...: expected a path, sqlite:///path or postgresql://user@host/name"
        )
    if not path or "\x00" in path:
        raise ConfigError(f"{what} {path!r}: expected the path of a file")
    return path


def user_data_file(name: str) -> Path:
    """Returns the path of a file of ours in the user's data folder, which stays when a cache is emptied.

    Source: XDG Base Directory Specification, XDG_DATA_HOME; on Windows the local application data.
    """
    folder = os.environ.get("XDG_DATA_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    # A relative path is to be ignored, says that specification.
    data = Path(folder) if folder and Path(folder).is_absolute() else Path.home() / ".local" / "share"
    return data / "ebbtide" / name
