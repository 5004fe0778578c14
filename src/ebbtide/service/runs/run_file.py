"""Runs in a file of SQLite."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from ebbtide.database.migrating import SQLITE, bring_up
from ebbtide.database.session import Session
from ebbtide.database.sqlite_errors import SqliteErrors
from ebbtide.database.sqlite_session import SqliteSession, use_write_ahead_log
from ebbtide.errors import StoreError
from ebbtide.service.file_lock import lock_file
from ebbtide.service.runs.run_schema import RUN_SCHEMA

_BUSY_S: Final = 5.0  # for another process that holds the file


class RunFile:
    """A `RunPlace` in a file. One service has it, which a lock on a file beside it says.

    Args:
        path: The file; it is made where there is none.
    """

    def __init__(self, path: str) -> None:
        self.name = path
        self._path = Path(path)
        self._lock: int | None = None
        self._inode = 0

    def writer(self) -> Session:
        """As in `RunPlace`."""
        if self._lock is None:
            self._lock = self._locked()
        with SqliteErrors(self.name):
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
        self._inode = self._path.stat().st_ino
        return SqliteSession(connection, self.name)

    def reader(self) -> Session:
        """As in `RunPlace`; it reads the file that is there now, so that it is of use once."""
        with SqliteErrors(self.name):
            connection = sqlite3.connect(
                f"{self._path.absolute().as_uri()}?mode=rw",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
            )
            return SqliteSession(connection, self.name, lasting=False)

    def require(self) -> None:
        """As in `RunPlace`: SQLite goes on writing to a file that was deleted."""
        try:
            is_there = os.stat(self._path).st_ino == self._inode  # noqa: PTH116 - once a transaction
        except OSError:
            is_there = False
        if not is_there:
            raise StoreError(f"{self.name}: the file is gone. Put it back, or start the service anew")

    def erase(self) -> None:
        """As in `RunPlace`: what is free is overwritten already, so that only the log of changes is left."""
        session = self.reader()
        try:
            session.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            session.close()

    def close(self) -> None:
        """As in `RunPlace`."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        tables = {row[0] for row in connection.execute(SQLITE.tables)}
        if tables and RUN_SCHEMA.version_table not in tables:
            raise StoreError(f"{self.name}: not a file of this version of the service. Name another --db")
        bring_up(connection.execute, RUN_SCHEMA, SQLITE, self.name, read_only=False, create=True)
        use_write_ahead_log(connection, self.name, _BUSY_S)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")

    def _locked(self) -> int:
        lock = self._path.with_name(f"{self._path.name}.lock")
        try:
            handle = lock_file(lock)
        except OSError as error:
            raise StoreError(
                f"{lock}: {error.strerror or error}. Name a --db in a folder that can be written"
            ) from error
        if handle is None:
            raise StoreError(f"{self.name}: another service has this file. End it, or name another --db")
        return handle
