"""A file of SQLite with the tables of one schema: opened, checked, made, and written in transactions."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike, fspath
from typing import Final

from ebbtide.database.migrating import SQLITE, Schema, bring_up
from ebbtide.database.place import MEMORY
from ebbtide.database.sqlite_errors import SqliteErrors, require_database
from ebbtide.database.sqlite_session import use_write_ahead_log
from ebbtide.errors import StoreError

_WAIT_S: Final = 10.0  # for another process that writes
_WRITES: Final = "BEGIN IMMEDIATE"
_READS: Final = "BEGIN"


def opened_file(path: str, schema: Schema, *, wait_s: float = _WAIT_S) -> sqlite3.Connection:
    """Opens a file to write, with its tables at their newest version and readers that wait for nobody.

    Args:
        path: The file, made where there is none; its folder has to be there. Or `MEMORY`.
        wait_s: Seconds that a statement waits for other processes.

    Raises:
        StoreError: It cannot be written, or has something else in it.
    """
    require_database(path)
    with SqliteErrors(path):
        connection = sqlite3.connect(path, timeout=wait_s, isolation_level=None, check_same_thread=False)
        try:
            _require_ours(connection, path, schema)
            bring_up(connection.execute, schema, SQLITE, path, read_only=False, create=True)
            if path != MEMORY:
                use_write_ahead_log(connection, path, wait_s)
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection


def _require_ours(connection: sqlite3.Connection, path: str, schema: Schema) -> None:
    # Another process may be making the tables at this moment: all of them come at once.
    tables = {row[0] for row in connection.execute(SQLITE.tables)}
    if tables and schema.version_table not in tables:
        raise StoreError(f"{path}: not a {schema.what} of this version; choose another path")


class KeptFile:
    """A file in which one process keeps its state; other processes and several threads may use it too.

    A process that was forked goes on with a connection of its own. A signal handler may begin a transaction
    in the middle of another one: what that has done so far is committed first.

    Args:
        path: The file, made where there is none; None keeps all in the memory of this process.
        wait_s: Seconds that a transaction waits for other processes.
        stays_open: Whether it stays open between two uses. Else it can be moved or deleted then.

    Attributes:
        name: What messages call it.

    Raises:
        StoreError: It cannot be written, or has something else in it.
    """

    def __init__(
        self,
        path: str | PathLike[str] | None,
        schema: Schema,
        *,
        wait_s: float = _WAIT_S,
        stays_open: bool = False,
    ) -> None:
        self._path = MEMORY if path is None else fspath(path)
        self.name = self._path
        self._schema = schema
        self._wait_s = wait_s
        self._stays_open = stays_open or path is None
        self._guard = SqliteErrors(self.name)
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._begin = _READS  # how the transaction began that is open
        self._depth = 0
        self._inherited: list[sqlite3.Connection] = []  # never closed: they are the parent's
        with self.transaction(write=False):
            pass

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction, which is undone where anything is raised.

        Raises:
            StoreError: What SQLite says, with what to do.
        """
        self._adopt()
        with self._lock, self._guard:
            self._depth += 1
            try:
                if self._connection is None:
                    self._connection = opened_file(self._path, self._schema, wait_s=self._wait_s)
                interrupted = self._begin if self._connection.in_transaction else None
                if interrupted is not None:
                    self._connection.execute("COMMIT")
                self._begin = _WRITES if write else _READS
                yield from _transaction(self._connection, self._begin)
                if interrupted is not None:
                    self._begin = interrupted
                    self._connection.execute(interrupted)
            finally:
                self._depth -= 1
                if not self._depth and not self._stays_open:
                    self._close()

    def close(self) -> None:
        """Close it; the next transaction opens it again. What is only in memory is gone."""
        if self._process == os.getpid():
            with self._lock:
                self._close()

    def __del__(self) -> None:
        with suppress(Exception):  # half made, or at the end of the interpreter
            self.close()

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _adopt(self) -> None:
        """Make it this process's own after a fork: another thread of the parent may have held the lock."""
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._depth = 0
        if self._path != MEMORY and self._connection is not None:
            self._inherited.append(self._connection)
            self._connection = None


def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[sqlite3.Connection]:
    connection.execute(begin)
    try:
        yield connection
    except BaseException:
        if connection.in_transaction:  # some errors have undone it already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
