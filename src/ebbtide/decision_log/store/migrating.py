"""The schema of a store, brought to the newest version: in one transaction, by one process at a time.

A version is a script in the folder ``schema``: ``0001_name.sql``, or ``0001_name.sqlite.sql`` and
``0001_name.postgresql.sql`` where the databases need different words. A script of a release never changes;
what comes later is a script of its own. Opening a store that is up to date asks for its version and no more.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ebbtide.errors import StoreError

#: What is run, with its rows: `execute` of a connection of sqlite3 or psycopg that commits each statement.
Execute = Callable[[str], Any]

_FOLDER = Path(__file__).parent / "schema"
_TABLES = ("decisions", "decision_events", "decision_streams", "decision_counts")
_VERSION_TABLE = "decision_log_version"
_MAKE_VERSION_TABLE = (
    f"CREATE TABLE IF NOT EXISTS {_VERSION_TABLE} "
    f"(version_num VARCHAR(32) NOT NULL, CONSTRAINT {_VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What migrating takes from a database.

    Args:
        name: As the scripts have it.
        tables: A question for the names of all tables that could be of a log; there may be others among them.
        begin: Begins the transaction, and waits until no other process migrates.
    """

    name: str
    tables: str
    begin: tuple[str, ...]


SQLITE = Dialect(
    name="sqlite",
    tables="SELECT name FROM sqlite_master WHERE type = 'table'",
    begin=("BEGIN IMMEDIATE",),
)
POSTGRESQL = Dialect(
    name="postgresql",
    # Not to_regclass: it may answer from what this connection looked up before it waited for the lock.
    tables="SELECT relname FROM pg_class WHERE pg_table_is_visible(oid) AND relname LIKE 'decision%'",
    # The key of the lock is any number, the same in all processes.
    begin=("BEGIN", "SELECT pg_advisory_xact_lock(5207961463)"),
)


@lru_cache
def versions(dialect: Dialect) -> dict[str, Path]:
    """The script of each version, oldest first; this code reads and writes the last version."""
    shared = {path.name[:4]: path for path in _FOLDER.glob("*.sql") if path.name.count(".") == 1}
    own = {path.name[:4]: path for path in _FOLDER.glob(f"*.{dialect.name}.sql")}
    return dict(sorted((shared | own).items()))


def statements(script: str) -> Iterator[str]:
    """The statements of a script, with the comments above them."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        # A trigger has semicolons inside.
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def bring_up(execute: Execute, dialect: Dialect, name: str, *, read_only: bool, create: bool) -> None:
    """Bring a store to the newest version.

    Args:
        execute: Runs a statement, outside of a transaction.
        dialect: Of which database.
        name: What messages call the store.
        read_only: Whether nothing may be written.
        create: Whether an empty one may be filled.

    Raises:
        StoreError: It is of a later version, no decision log, damaged, or half of a migration was done.
    """
    if not _pending(execute, dialect, name, read_only=read_only, create=create):
        return
    try:
        for statement in dialect.begin:
            execute(statement)
        # Another process may have done it all by the time that the lock is ours.
        pending = _pending(execute, dialect, name, read_only=read_only, create=create)
        for script in pending.values():
            for statement in statements(script.read_text(encoding="utf-8")):
                execute(statement)
        if pending:
            execute(_MAKE_VERSION_TABLE)
            execute(f"DELETE FROM {_VERSION_TABLE}")  # noqa: S608 - a name of ours
            execute(f"INSERT INTO {_VERSION_TABLE} VALUES ('{max(pending)}')")  # noqa: S608 - likewise
        execute("COMMIT")
    except BaseException:
        # Some errors have undone it already, or taken the connection with them.
        with contextlib.suppress(Exception):
            execute("ROLLBACK")
        raise


def _pending(
    execute: Execute, dialect: Dialect, name: str, *, read_only: bool, create: bool
) -> dict[str, Path]:
    """The scripts that the store has not seen yet, by version, oldest first.

    Raises:
        StoreError: It is nothing that this code may touch.
    """
    scripts = versions(dialect)
    newest = max(scripts)
    tables = {row[0] for row in execute(dialect.tables).fetchall()}
    ours = tables & set(_TABLES)
    if _VERSION_TABLE not in tables:
        if ours:
            raise StoreError(
                f"{name}: it has the table {min(ours)!r} and no {_VERSION_TABLE!r}: a migration was left "
                "half done, or the table is of another program; restore a copy, or use another place"
            )
        if read_only or not create:
            raise StoreError(f"{name}: there is no decision log in it; open it without read_only to make one")
        return scripts
    rows = [row[0] for row in execute(f"SELECT version_num FROM {_VERSION_TABLE}").fetchall()]  # noqa: S608 - a name of ours
    if len(rows) != 1:
        raise StoreError(
            f"{name}: it has {len(rows)} versions: a migration was left half done; restore a copy"
        )
    version = rows[0]
    if version not in scripts:
        raise StoreError(
            f"{name}: it is of version {version!r}, and this ebbtide knows up to {newest!r}; "
            "install a later ebbtide"
        )
    if version == newest and (missing := set(_TABLES) - ours):
        raise StoreError(f"{name}: its table {min(missing)!r} is missing; restore a copy")
    if version != newest and read_only:
        raise StoreError(
            f"{name}: it is of version {version!r}; open it, or a copy of it, once to write: that migrates it"
        )
    return {number: script for number, script in scripts.items() if number > version}
