"""The tables of a database, brought to the newest version: in one transaction, by one process at a time.

A version is a script in the folder of a schema, ``0001_name.sql``, with the words of `Dialect` in braces.
Behind it stands what one database alone needs: ``0001_name.sqlite.sql``, ``0001_name.postgresql.sql``. A
script of a release never changes; what comes later is a script of its own. Opening a store that is up to date
asks for its version and no more.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ebbtide.errors import StoreError

#: What is run, with its rows: `execute` of a connection of sqlite3 or psycopg that commits each statement.
Execute = Callable[[str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The tables of a database, and the scripts that make them.

    Args:
        what: What messages call it, such as ``decision log``.
        tables: Tables that it cannot be without.
        version_table: The table that holds its version.
        lock: Any number, the same in all processes: PostgreSQL lets one of them migrate at a time.
    """

    what: str
    folder: Path
    tables: tuple[str, ...]
    version_table: str
    lock: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The statements in which databases differ when they are migrated.

    Args:
        tables: A question for the names of all tables.
        begin: Begins the transaction, and waits until no other process migrates this schema.
        words: Its words for what scripts have in braces: a ``number`` that the database gives to each row
            (``number_once``: that it never gives again), the types ``int``, ``real`` and ``bytes``, and
            ``no_rowid`` behind a table whose rows have no other number than their key.
    """

    name: str
    tables: str
    begin: tuple[str, ...]
    words: Mapping[str, str] = field(hash=False)


SQLITE = Dialect(
    name="sqlite",
    tables="SELECT name FROM sqlite_master WHERE type = 'table'",
    begin=("BEGIN IMMEDIATE",),
    words={
        "number": "INTEGER PRIMARY KEY",
        "number_once": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "int": "INTEGER",
        "real": "REAL",
        "bytes": "BLOB",
        "no_rowid": " WITHOUT ROWID",
    },
)
POSTGRESQL = Dialect(
    name="postgresql",
    # Not to_regclass: it may answer from what this connection looked up before it waited for the lock.
    tables="SELECT relname FROM pg_class WHERE pg_table_is_visible(oid) AND relkind IN ('r', 'p')",
    begin=("BEGIN", "SELECT pg_advisory_xact_lock({lock})"),
    words={
        "number": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "number_once": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "int": "BIGINT",
        "real": "DOUBLE PRECISION",
        "bytes": "BYTEA",
        "no_rowid": "",
    },
)


@lru_cache
def versions(schema: Schema, dialect: Dialect) -> dict[str, list[Path]]:
    """Returns the scripts of each version, oldest first; this code reads and writes the last version."""
    scripts: dict[str, list[Path]] = {}
    for path in sorted(schema.folder.glob("*.sql"), key=lambda path: (path.name[:4], path.name.count("."))):
        if path.name.count(".") == 1 or path.name.endswith(f".{dialect.name}.sql"):
            scripts.setdefault(path.name[:4], []).append(path)
    return scripts


def statements(scripts: Iterable[Path], dialect: Dialect) -> Iterator[str]:
    """Yields the statements of a version, with the comments above them."""
    statement = ""
    lines = (line for path in scripts for line in path.read_text(encoding="utf-8").splitlines(keepends=True))
    for line in lines:
        statement += line
        # A trigger has semicolons inside.
        if sqlite3.complete_statement(statement):
            yield statement.format_map(dialect.words)
            statement = ""


def bring_up(
    execute: Execute, schema: Schema, dialect: Dialect, name: str, *, read_only: bool, create: bool
) -> None:
    """Bring a database to the newest version.

    Args:
        execute: Runs a statement, outside of a transaction.

    Raises:
        StoreError: It is of a later version, something else, damaged, or half of a migration was done.
    """
    if not _pending(execute, schema, dialect, name, read_only=read_only, create=create):
        return
    try:
        for statement in dialect.begin:
            execute(statement.format(lock=schema.lock))
        # Another process may have done it all by the time that the lock is ours.
        pending = _pending(execute, schema, dialect, name, read_only=read_only, create=create)
        for scripts in pending.values():
            for statement in statements(scripts, dialect):
                execute(statement)
        if pending:
            table = schema.version_table
            execute(
                f"CREATE TABLE IF NOT EXISTS {table} "
                f"(version_num VARCHAR(32) NOT NULL, CONSTRAINT {table}_pkc PRIMARY KEY (version_num))"
            )
            execute(f"DELETE FROM {table}")  # noqa: S608 - a name of ours
            execute(f"INSERT INTO {table} VALUES ('{max(pending)}')")  # noqa: S608
        execute("COMMIT")
    except BaseException:
        # Some errors have undone it already, or taken the connection with them.
        with contextlib.suppress(Exception):
            execute("ROLLBACK")
        raise


def _pending(
    execute: Execute, schema: Schema, dialect: Dialect, name: str, *, read_only: bool, create: bool
) -> dict[str, list[Path]]:
    """The scripts that the store has not seen yet, by version, oldest first.

    Raises:
        StoreError: It is nothing that this code may touch.
    """
    scripts = versions(schema, dialect)
    newest = max(scripts)
    tables = {row[0] for row in execute(dialect.tables).fetchall()}
    ours = tables & set(schema.tables)
    if schema.version_table not in tables:
        if ours:
            raise StoreError(
                f"{name}: it has the table {min(ours)!r} and no {schema.version_table!r}: a migration was "
                "left half done, or the table is of another program; restore a copy, or use another place"
            )
        if read_only or not create:
            raise StoreError(
                f"{name}: there is no {schema.what} in it; open it without read_only to make one"
            )
        return scripts
    query = f"SELECT version_num FROM {schema.version_table}"  # noqa: S608 - a name of ours
    rows = [row[0] for row in execute(query).fetchall()]
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
    if version == newest and (missing := set(schema.tables) - ours):
        raise StoreError(f"{name}: its table {min(missing)!r} is missing; restore a copy")
    if version != newest and read_only:
        raise StoreError(
            f"{name}: it is of version {version!r}; open it, or a copy of it, once to write: that migrates it"
        )
    return {number: script for number, script in scripts.items() if number > version}
