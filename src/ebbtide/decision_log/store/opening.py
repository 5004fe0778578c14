"""Which database a URL or a path names."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

from ebbtide.decision_log.store.database import Database
from ebbtide.decision_log.store.postgres import PostgresDatabase
from ebbtide.decision_log.store.sqlite import SqliteDatabase
from ebbtide.errors import ConfigError

_POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")


def database_of(
    where: str | os.PathLike[str], *, timeout_s: float, read_only: bool, durable: bool
) -> Database:
    """The database that `where` names.

    Args:
        where: A path, ``:memory:``, ``sqlite:///path`` or ``postgresql://...``.
        timeout_s: How long to wait for another writer, in seconds.
        read_only: Never write.
        durable: Wait for the disk at every commit, where that can be chosen.

    Raises:
        ConfigError: It names none.
        StoreError: psycopg is missing.
    """
    text = os.fspath(where)
    if isinstance(where, Path) or "://" not in text:
        path = text
    elif text.startswith(_POSTGRES):
        return PostgresDatabase(text, timeout_s=timeout_s, read_only=read_only)
    elif text.startswith("sqlite:///"):
        path = unquote(text.removeprefix("sqlite:///")) or ":memory:"
    elif text == "sqlite://":
        path = ":memory:"
    else:
        scheme = text.split("://", 1)[0]
        raise ConfigError(
            f"store {scheme}://...: expected a path, :memory:, sqlite:///path or postgresql://user@host/name"
        )
    if not path or "\x00" in path:
        raise ConfigError(f"store {path!r}: expected the path of a file")
    return SqliteDatabase(path, timeout_s=timeout_s, read_only=read_only, durable=durable)
