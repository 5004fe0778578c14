"""Databases of the runs of a service: a file of SQLite, or a database of a PostgreSQL server."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from ebbtide.database.kept_file import opened_file
from ebbtide.database.migrating import POSTGRESQL, Schema, bring_up
from ebbtide.database.place import MEMORY, sqlite_path
from ebbtide.database.postgres import PostgresServer, PostgresSession
from ebbtide.database.session import Session
from ebbtide.database.sqlite_errors import SqliteErrors
from ebbtide.database.sqlite_session import SqliteSession
from ebbtide.errors import ConfigError, StoreError
from ebbtide.service.file_lock import lock_file

_log = logging.getLogger(__name__)
_BUSY_S: Final = 5.0  # for another process that holds the file
_NAMESPACE: Final = "ebbtide_service"  # its tables have plain names, and the database may have others
_OWNER: Final = 5_207_961_465  # the lock of the one service, any number
_CONNECT_S: Final = 5.0
_HANDOVER_S: Final = 3.0  # in which the server notices that the service before has died
_REST_S: Final = 1.0  # after a failure, in which nobody tries again: a time-out takes as long
_DURABLE: Final = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)
RUN_SCHEMA: Final = Schema(
    what="file of the service",
    folder=Path(__file__).parent / "schema",
    tables=(
        "runs",
        "events",
        "checks",
        "states",
        "charged",
        "spending",
        "exports",
        "alerts",
        "audit",
        "session_files",
        "session_rests",
    ),
    version_table="service_version",
    lock=5_207_961_464,
)


def run_place(where: str | os.PathLike[str]) -> RunFile | RunServer:
    """The place that a path or a URL names.

    Raises:
        ConfigError: It names none.
        StoreError: What it needs is not installed.
    """
    path = sqlite_path(where, "--db")
    if path == MEMORY:
        raise ConfigError("--db: runs are kept in a file, or in PostgreSQL; name one of them")
    return RunServer(os.fspath(where)) if path is None else RunFile(path)


class RunFile:
    """Runs in a file of SQLite. One service has it, which a lock on a file beside it says."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._path = Path(path)
        self._lock: int | None = None
        self._inode: int | None = None

    def writer(self) -> Session:
        """Opens the session that writes, whose commits have reached the disk; makes the tables."""
        if self._lock is None:
            self._lock = self._locked()
        connection = opened_file(self.name, RUN_SCHEMA, wait_s=_BUSY_S)
        with SqliteErrors(self.name):
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
        self._inode = _inode(self._path)
        return SqliteSession(connection, self.name)

    def reader(self) -> Session:
        """Opens a session that reads the file that is there now, and no other that comes in its place."""
        with SqliteErrors(self.name):
            inode = _inode(self._path)
            connection = sqlite3.connect(
                f"{self._path.absolute().as_uri()}?mode=rw",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
            )
            return _FileReader(connection, self._path, inode)

    def require(self) -> None:
        """Refuses to go on where the file is gone: SQLite goes on writing to one that was deleted."""
        if _inode(self._path) != self._inode:
            raise StoreError(f"{self.name}: the file is gone. Put it back, or start the service anew")

    def erase(self) -> None:
        """Takes what was deleted out of the log of changes; in the file it is overwritten already."""
        session = self.reader()
        try:
            session.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            session.close()

    def close(self) -> None:
        """Lets another service have the file."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

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


class _FileReader(SqliteSession):
    """A session that refuses to begin where its file was deleted, or another one has come in its place."""

    def __init__(self, connection: sqlite3.Connection, path: Path, inode: int | None) -> None:
        super().__init__(connection, str(path))
        self._path = path
        self._inode = inode

    def begin(self, *, write: bool) -> None:
        """Begin a transaction."""
        if _inode(self._path) != self._inode:
            raise StoreError(f"{self._path}: another file is there now")
        super().begin(write=write)


def _inode(path: Path) -> int | None:
    """Returns the number of a file; None where there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


class RunServer:
    """Runs on a PostgreSQL server. One service has them, which a lock of its writing session says.

    Args:
        url: ``postgresql://...``, as libpq reads it.

    Raises:
        ConfigError: The URL cannot be read.
        StoreError: psycopg is missing.
    """

    def __init__(self, url: str) -> None:
        self._server = PostgresServer(url, timeout_s=_CONNECT_S, namespace=_NAMESPACE)
        self.name = self._server.name
        self._failure = ""
        self._away_until = 0.0

    def writer(self) -> Session:
        """Opens the session that writes, whose commits have reached the disk; makes the tables."""
        session = self._connected()
        try:
            self._own(session)
            with self._server.plain_connection() as connection:
                if not connection.execute(
                    "SELECT 1 FROM pg_namespace WHERE nspname = %s", (_NAMESPACE,)
                ).fetchone():
                    connection.execute(f"CREATE SCHEMA {_NAMESPACE}")
                bring_up(connection.execute, RUN_SCHEMA, POSTGRESQL, self.name, read_only=False, create=True)
            session.rows(_DURABLE)
            if session.rows("SHOW fsync") != [("on",)]:
                _log.warning(
                    "%s: fsync is off there: a loss of power may take what was acknowledged", self.name
                )
        except BaseException:
            session.close()
            raise
        return session

    def reader(self) -> Session:
        """Opens one more session, to read."""
        return self._connected()

    def require(self) -> None:
        """Nothing to do: a session notices by itself that the server is gone."""

    def erase(self) -> None:
        """Nothing to do: it is left to the server, where others may still see what was deleted."""

    def close(self) -> None:
        """Nothing to do: the lock goes with the session."""

    def _connected(self) -> PostgresSession:
        if time.monotonic() < self._away_until:
            raise StoreError(self._failure)
        try:
            return self._server.connect()
        except StoreError as error:
            self._failure, self._away_until = str(error), time.monotonic() + _REST_S
            raise

    def _own(self, session: PostgresSession) -> None:
        deadline = time.monotonic() + _HANDOVER_S
        while not session.rows("SELECT pg_try_advisory_lock(?)", (_OWNER,))[0][0]:
            if time.monotonic() > deadline:
                raise StoreError(
                    f"{self.name}: another service has this database. End it, or name another --db"
                )
            time.sleep(0.05)
