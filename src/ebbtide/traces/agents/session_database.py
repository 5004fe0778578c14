"""Databases in which agents keep sessions: SQLite files that are only read.

A session in one has no file of its own. It is named like a file in the database: ``opencode.db/ses_1a2b``.
Nothing is ever written: a database without a write-ahead log is opened as a file that does not change, so
that no such log comes into being.

The rows of a session come as JSON lines in the form that its agent writes into files, so that one reader
knows both. What differs between agents stands in a `DatabaseLayout`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Final

from ebbtide.database.sqlite_errors import SQLITE_ERRORS, sqlite_words
from ebbtide.errors import TranscriptError
from ebbtide.traces.input.other_databases import OtherDatabase, kind_of
from ebbtide.traces.input.source import begins_with

SQLITE: Final = b"SQLite format 3\0"
GROWING: Final = inf  #: the time at which a line is ripe that is still written

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession:
    """A session in the storage of an agent.

    Args:
        id: Its id.
        path: What it is named by.
        parent: The session that began it; None for one of its own.
        directory: The folder that the agent worked in; None where it is not known.
        modified: When it was written last, in seconds since 1970.
        role: Its place beside its parent, in the words of `RunRole`.
    """

    id: str
    path: str
    parent: str | None
    directory: str | None
    modified: float
    role: str = "child session"


def is_database(path: str | os.PathLike[str]) -> bool:
    """True if this is a database by its name and its first bytes."""
    file = Path(path)
    try:
        return file.suffix == ".db" and file.is_file() and begins_with(file, SQLITE)
    except OSError:
        return False


def is_in_database(path: str | os.PathLike[str]) -> bool:
    """True if a path names a session in a database."""
    return is_database(Path(path).parent)


def statements_of(database: sqlite3.Connection) -> str:
    """Returns the statements that made the tables of a database."""
    rows = database.execute("SELECT sql FROM sqlite_master WHERE type = 'table'").fetchall()
    return "\n".join(str(row[0]) for row in rows)


def state_of_files(path: str | os.PathLike[str]) -> object:
    """Returns a value that changes with every change of a database."""
    states = []
    for suffix in ("", "-wal"):
        try:
            status = Path(f"{os.fspath(path)}{suffix}").stat()
        except OSError:
            continue
        states.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return states


@contextmanager
def open_database(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """A database, to read.

    Raises:
        TranscriptError: It cannot be read, or lacks a table of its reader.
    """
    file = Path(path).absolute()
    log = file.with_name(f"{file.name}-wal")
    has_log = log.is_file() and log.stat().st_size > 0
    address = f"{file.as_uri()}?mode=ro{'' if has_log else '&immutable=1'}"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            database.text_factory = lambda data: data.decode(errors="replace")
            try:
                yield database
            except SQLITE_ERRORS as error:
                if "no such table" not in sqlite_words(error):
                    raise
                kind = kind_of(statements_of(database))
                raise TranscriptError(
                    kind.what, source=os.fspath(path), hint=kind.advice, no_trace=True
                ) from error
    except SQLITE_ERRORS as error:
        what = f"the database cannot be read: {sqlite_words(error)}"
        raise TranscriptError(what, source=os.fspath(path)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLine:
    """A line of a session, or some that come together.

    Args:
        key: The same for the same record, also where it is written again.
        content: Returns the lines; asked while the database is open.
        ripe_at: When nothing that belongs before it comes any more, in seconds since 1970, or `GROWING`.
        is_head: Whether it says nothing without a line that follows.
    """

    key: object
    content: Callable[[], Iterable[bytes]]
    ripe_at: float = 0.0
    is_head: bool = False

    @classmethod
    def of(cls, key: object, record: Row, ripe_at: float = 0.0) -> StoredLine:
        """Returns a line with a record."""
        return cls(key=key, content=lambda: (json.dumps(record).encode() + b"\n",), ripe_at=ripe_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseLayout:
    """The tables of an agent, and the way to read them.

    Args:
        sessions: Returns the sessions of a database with a path: all that can be named, or the one of a name.
        lines: Yields the lines of a session, by its name; the first is its head.
        kind: What it is called, and how to get at a session otherwise; None where no tables are refused.
        newest: The newest version of the tables that is known.
        needed: Columns that are read in any case, by their tables.
    """

    sessions: Callable[[sqlite3.Connection, Path, str | None], list[StoredSession]]
    lines: Callable[[sqlite3.Connection, str], Iterator[StoredLine]]
    kind: OtherDatabase | None = None
    newest: int = 0
    needed: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def sessions_in(self, path: Path, name: str | None = None) -> list[StoredSession]:
        """Returns the sessions in a database, or the one of a name.

        Raises:
            TranscriptError: It cannot be read, or has tables that are not known.
        """
        with open_database(path) as database:
            self._refuse_unknown(database, path)
            return self.sessions(database, path, name)

    def session(self, path: Path) -> StoredSession:
        """Returns a session, by its path.

        Raises:
            TranscriptError: It cannot be read.
        """
        sessions = self.sessions_in(path.parent, path.name)
        if not sessions:
            raise TranscriptError("no such session in this database", source=os.fspath(path))
        return sessions[0]

    def lines_of(self, path: Path) -> Iterator[StoredLine]:
        """Yields the lines of a session, each record once.

        Raises:
            TranscriptError: It cannot be read.
        """
        known: set[object] = set()
        with open_database(path.parent) as database:
            for line in self.lines(database, path.name):
                if line.key not in known:
                    known.add(line.key)
                    yield line

    def _refuse_unknown(self, database: sqlite3.Connection, path: Path) -> None:
        if self.kind is None:
            return
        what, version = "", None
        if columns_of(database, "schema_version"):
            version = database.execute("SELECT MAX(version) FROM schema_version").fetchone()[0]
        lacking = [
            f"{table}.{column}"
            for table, columns in self.needed.items()
            for column in sorted(columns - columns_of(database, table))
        ]
        if version is not None and not (isinstance(version, int) and version <= self.newest):
            what = f"its schema is {version}, and those up to {self.newest} can be read"
        elif lacking:
            what = f"it has no {lacking[0]}"
        if what:
            raise TranscriptError(
                f"{self.kind.what}: {what}", source=str(path), hint=self.kind.advice, no_trace=True
            )


def rows_of(database: sqlite3.Connection, query: str, *values: object) -> list[dict[str, Any]]:
    """Returns rows with the names of their columns, of which some versions have more than others."""
    cursor = database.execute(query, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def columns_of(database: sqlite3.Connection, table: str) -> frozenset[str]:
    """Returns the columns of a table; none where it is not there."""
    return frozenset(row[1] for row in database.execute(f"PRAGMA table_info({table})"))
