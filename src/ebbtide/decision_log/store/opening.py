"""Which database a URL or a path names."""

from __future__ import annotations

import os

from ebbtide.database.place import sqlite_path
from ebbtide.decision_log.store.database import Database
from ebbtide.decision_log.store.postgres import PostgresDatabase
from ebbtide.decision_log.store.sqlite import SqliteDatabase


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
    path = sqlite_path(where, "store")
    if path is None:
        return PostgresDatabase(os.fspath(where), timeout_s=timeout_s, read_only=read_only)
    return SqliteDatabase(path, timeout_s=timeout_s, read_only=read_only, durable=durable)
