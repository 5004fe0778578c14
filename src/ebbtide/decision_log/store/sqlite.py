"""The store in a file, or in memory: SQLite from the standard library."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ebbtide.database.migrating import SQLITE, Schema, bring_up
from ebbtide.database.place import MEMORY
from ebbtide.database.session import Session, Write
from ebbtide.database.sqlite_errors import SqliteErrors, require_database
from ebbtide.database.sqlite_session import (
    SqliteSession,
    is_writable,
    sqlite_uri,
    use_write_ahead_log,
)
from ebbtide.errors import StoreError

_CHECKPOINT_PAGES = 10_000  # a checkpoint waits for the disk; pages that many commits change are written once
_OLDEST = (3, 35, 0)
# Rows that a connection writes, five or six a decision, before it takes their words into the index.
_UNINDEXED = 300
_PATIENCE_MS = 50  # how long a search waits to have the index brought up to date
_INDEX = (
    (
        "INSERT INTO decision_words (rowid, search_text) "
        "SELECT n, search_text FROM decision_unindexed JOIN decisions USING (n)"
    ),
    "DELETE FROM decision_unindexed",
)


class SqliteDatabase:
    """A SQLite file in WAL mode, or a database in memory that lives as long as its session.

    Args:
        path: The file, or ``:memory:``.
        timeout_s: How long a writer waits for another one.
        read_only: Never write, not even the schema.
        durable: Wait for the disk at every commit. Without, a commit survives the death of the process, and
            the last ones may be lost when the machine loses power.
    """

    lock_row = ""
    search_from = " JOIN decision_words ON decision_words.rowid = decisions.n"
    search_where = " AND decision_words MATCH ?"
    # The index reads the whole list of a word, and that of "the" is as long as the log.
    search_row: str | None = " AND instr(' ' || decisions.search_text || ' ', ?) > 0"
    search_rank = "-bm25(decision_words)"
    # Of words that are everywhere, to read and rank every decision takes longer the longer the log is.
    search_newest = " ORDER BY decision_words.rowid DESC LIMIT ?"
    search_rest: str | None = "decision_unindexed CROSS JOIN decisions USING (n)"

    def __init__(self, path: str, *, timeout_s: float, read_only: bool, durable: bool) -> None:
        if sqlite3.sqlite_version_info < _OLDEST:
            raise StoreError(f"SQLite {sqlite3.sqlite_version}: the decision log needs 3.35 or later")
        self.path = path
        self.name = "memory" if path == MEMORY else path
        self.single = path == MEMORY
        self._timeout_s = timeout_s
        self.read_only = read_only or (not self.single and Path(path).exists() and not is_writable(path))
        self._durable = durable

    def connect(self, *, write: bool) -> Session:
        """Open one more connection; in memory, a database of its own."""
        with SqliteErrors(self.name):
            connection = self._open()
            if self.single:
                bring_up(connection.execute, LOG_SCHEMA, SQLITE, self.name, read_only=False, create=True)
            else:
                self._settings(connection, write=write)
            return _LogSession(connection, self.name, lasting=not self.read_only)

    def _open(self, *, create: bool = False) -> sqlite3.Connection:
        place = self.path
        if not self.single:
            require_database(self.path)
            place = sqlite_uri(self.path, "ro" if self.read_only else "rwc" if create else "rw")
        connection = sqlite3.connect(
            place,
            timeout=self._timeout_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=not self.single,
        )
        if "vfs=" in place:
            # Without locks the index of the write-ahead log is in memory.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        return connection

    def _settings(self, connection: sqlite3.Connection, *, write: bool) -> None:
        connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
        connection.execute("PRAGMA cell_size_check = ON")  # a garbled page is reported when it is read
        # FAST would leave in free pages what stood in them.
        connection.execute("PRAGMA secure_delete = ON")
        if write:
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            connection.execute("PRAGMA cache_size = -32768")
        else:
            connection.execute("PRAGMA query_only = ON")

    def prepare(self, *, create: bool) -> None:
        """Bring the schema to this version, or say why not."""
        if self.single:
            return
        if not Path(self.path).exists() and (self.read_only or not create):
            raise StoreError(f"{self.name}: there is no such file; check the path")
        with SqliteErrors(self.name):
            connection = self._open(create=create)
        try:
            if not self.read_only:
                use_write_ahead_log(connection, self.name, self._timeout_s)
            with SqliteErrors(self.name):
                bring_up(
                    connection.execute, LOG_SCHEMA, SQLITE, self.name, read_only=self.read_only, create=create
                )
        finally:
            connection.close()

    def search_value(self, words: Sequence[str], *, every: bool, begins: bool = False) -> str:
        """The words, or what words begin with, as FTS5 wants them."""
        mark = "*" if begins else ""
        return (" AND " if every else " OR ").join(f'"{word}"{mark}' for word in words)

    def index_words(self, session: Session) -> None:
        """Take the words of the latest decisions into the index, unless somebody else is writing."""
        if not session.rows("SELECT 1 FROM decision_unindexed LIMIT 1"):
            return
        session.run(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
        try:
            session.begin(write=True)
            for sql in _INDEX:
                session.run(sql)
            session.commit()
        except StoreError:
            session.rollback()  # the search reads these decisions one by one
        finally:
            session.run(f"PRAGMA busy_timeout = {int(self._timeout_s * 1000)}")

    def erase(self, session: Session) -> None:
        """Take what was erased out of the full-text index and the write-ahead log.

        Raises:
            StoreError: Somebody reads an older state, so that the write-ahead log has to keep it.
        """
        session.run("INSERT INTO decision_words(decision_words) VALUES ('optimize')")
        if not self.single and session.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            raise StoreError(
                f"{self.name}: the texts are erased, and somebody still reads a state that has them, so they "
                "stand in the write-ahead log; erase again when that reader is done",
                recorded=True,
            )


class _LogSession(SqliteSession):
    """Takes the words of what it writes into the index, some decisions at a time."""

    def __init__(self, connection: sqlite3.Connection, name: str, *, lasting: bool) -> None:
        super().__init__(connection, name, lasting=lasting)
        self._next_index = 0  # also what others left: a program that records one decision indexes it at once

    def commit(self, writes: Sequence[Write] = ()) -> None:
        """Make the last changes and commit."""
        for sql, many in writes:
            self.run_many(sql, many)
        if self.connection.total_changes > self._next_index:
            for sql in _INDEX:
                self.run(sql)
            self._next_index = self.connection.total_changes + _UNINDEXED
        super().commit()


LOG_SCHEMA: Final = Schema(
    what="decision log",
    folder=Path(__file__).parent / "schema",
    tables=("decisions", "decision_events", "decision_streams", "decision_counts"),
    version_table="decision_log_version",
    lock=5_207_961_463,
)
