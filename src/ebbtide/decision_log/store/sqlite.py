"""The store in a file, or in memory: SQLite from the standard library."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ebbtide.decision_log.store import sqlite_file
from ebbtide.decision_log.store.database import Question, Session, Values, Write
from ebbtide.decision_log.store.migrating import SQLITE, bring_up
from ebbtide.decision_log.store.sqlite_errors import SqliteErrors
from ebbtide.errors import StoreError

_MEMORY = ":memory:"
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
        self.name = "memory" if path == _MEMORY else path
        self.single = path == _MEMORY
        self._timeout_s = timeout_s
        self.read_only = read_only or (
            not self.single and Path(path).exists() and not sqlite_file.is_writable(path)
        )
        self._durable = durable

    def connect(self, *, write: bool) -> Session:
        """Open one more connection; in memory, a database of its own."""
        with SqliteErrors(self.name):
            connection = self._open()
            if self.single:
                bring_up(connection.execute, SQLITE, self.name, read_only=False, create=True)
            else:
                self._settings(connection, write=write)
            return SqliteSession(connection, self.name, lasting=not self.read_only)

    def _open(self, *, create: bool = False) -> sqlite3.Connection:
        place = self.path
        if not self.single:
            place = sqlite_file.uri(self.path, "ro" if self.read_only else "rwc" if create else "rw")
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
        connection.execute("PRAGMA cell_size_check = ON")  # a garbled page is told where it is read
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
                self._use_wal(connection)
            with SqliteErrors(self.name):
                bring_up(connection.execute, SQLITE, self.name, read_only=self.read_only, create=create)
        finally:
            connection.close()

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        # Two processes that switch at once do not wait for each other: SQLite tells one that it is locked.
        end = time.monotonic() + self._timeout_s
        while True:
            try:
                with SqliteErrors(self.name):
                    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                        connection.execute("PRAGMA journal_mode = WAL")
            except StoreError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                return

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


class SqliteSession:
    """One connection to a SQLite database.

    Args:
        connection: The connection.
        name: What messages call the store.
        lasting: Whether it can be used again. Where nothing can be written it may be one that sees no change,
            so that the next question has one of its own.
    """

    def __init__(self, connection: sqlite3.Connection, name: str, *, lasting: bool = True) -> None:
        self.connection = connection
        self.broken = not lasting
        self.used = False
        self._guard = SqliteErrors(name)
        self._next_index = 0  # also what others left: a program that records one decision indexes it at once

    def begin(self, *, write: bool) -> None:
        """Begin a transaction; one that may write waits for its turn."""
        with self._guard:
            self.connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def commit(self, writes: Sequence[Write] = ()) -> None:
        """Make the last changes and commit."""
        with self._guard:
            for sql, many in writes:
                self.connection.executemany(sql, many)
            if self.connection.total_changes > self._next_index:
                self._index()
            self.connection.execute("COMMIT")

    def _index(self) -> None:
        for sql in _INDEX:
            self.connection.execute(sql)
        self._next_index = self.connection.total_changes + _UNINDEXED

    def rollback(self) -> None:
        """Undo; some errors have done so already."""
        with contextlib.suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

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
