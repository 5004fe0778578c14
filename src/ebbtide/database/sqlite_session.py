"""One connection to a database of SQLite, from the standard library, and the file behind it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ebbtide.database.session import Question, Values, Write
from ebbtide.database.sqlite_errors import SqliteErrors
from ebbtide.errors import StoreError


class SqliteSession:
    """One connection to a SQLite database.

    Args:
        name: What messages call the store.
        lasting: Whether it can be used again. Where nothing can be written it may be one that sees no change,
            so that the next question has one of its own.
    """

    def __init__(self, connection: sqlite3.Connection, name: str, *, lasting: bool = True) -> None:
        self.connection = connection
        self.broken = not lasting
        self.used = False
        self._guard = SqliteErrors(name)

    def begin(self, *, write: bool) -> None:
        """Begin a transaction; one that may write waits for its turn."""
        with self._guard:
            self.connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def commit(self, writes: Sequence[Write] = ()) -> None:
        """Make the last changes and commit."""
        with self._guard:
            for sql, many in writes:
                self.connection.executemany(sql, many)
            self.connection.execute("COMMIT")

    def rollback(self) -> None:
        """Undo; some errors have done so already."""
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        except sqlite3.Error:
            self.broken = True

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """All rows of a question."""
        with self._guard:
            return self.connection.execute(sql, values).fetchall()

    def rows_of_each(self, questions: Sequence[Question]) -> list[list[tuple[Any, ...]]]:
        """All rows of each question, asked in this order."""
        with self._guard:
            return [self.connection.execute(sql, values).fetchall() for sql, values in questions]

    def stream(self, sql: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a question, some at a time."""
        with self._guard:
            yield from self.connection.execute(sql, values)

    def run(self, sql: str, values: Values = ()) -> None:
        """Change something."""
        with self._guard:
            self.connection.execute(sql, values)

    def run_many(self, sql: str, many: Sequence[Values]) -> None:
        """Change something for each of the values."""
        with self._guard:
            self.connection.executemany(sql, many)

    def check(self) -> None:
        """Have SQLite compare tables and indexes.

        Raises:
            StoreError: They do not fit.
        """
        problem = self.rows("PRAGMA integrity_check(1)")[0][0]
        if problem != "ok":
            with self._guard:
                raise sqlite3.DatabaseError(f"malformed: {problem}")

    def close(self) -> None:
        """Close it."""
        with contextlib.suppress(sqlite3.Error):
            self.connection.close()


def use_write_ahead_log(connection: sqlite3.Connection, name: str, timeout_s: float) -> None:
    """Have readers and a writer not wait for each other.

    Args:
        timeout_s: How long to wait for others, in seconds.

    Raises:
        StoreError: The file cannot be written.
    """
    # Two processes that switch at once do not wait for each other: SQLite tells one that it is locked.
    end = time.monotonic() + timeout_s
    while True:
        try:
            with SqliteErrors(name):
                if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    connection.execute("PRAGMA journal_mode = WAL")
        except StoreError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def is_writable(path: str) -> bool:
    """Returns True if an existing file can be changed: SQLite also makes files beside it."""
    file = Path(path).absolute()
    return _may_write(file) and _may_write(file.parent)


def sqlite_uri(path: str, mode: str) -> str:
    """Returns a file as SQLite wants it, to be opened as ``ro``, ``rw`` or ``rwc``.

    Source: SQLite, "Write-Ahead Logging", section 5: where the files beside it cannot be made, a log is read
    through them if they are there. Without a write-ahead log the file is all there is and can be taken as
    one that nobody changes; a write-ahead log without its index is read by a connection that locks nothing.
    """
    file = Path(path).absolute()
    address = f"file:{quote(str(file))}?mode={mode}"
    if mode != "ro" or _may_write(file.parent) or Path(f"{file}-shm").exists():
        return address
    log = Path(f"{file}-wal")
    if log.exists() and log.stat().st_size:
        return f"{address}&vfs=unix-none" if os.name == "posix" else address
    return f"{address}&immutable=1"


def _may_write(place: Path) -> bool:
    return os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
