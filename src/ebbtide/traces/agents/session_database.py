"""Databases in which agents keep sessions: SQLite files that are only read.

A session in one has no file of its own. It is named like a file in the database: ``opencode.db/ses_1a2b``.
Nothing is ever written: a database without a write-ahead log is opened as a file that does not change, so
that no such log comes into being.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ebbtide.database.sqlite_errors import SQLITE_ERRORS, sqlite_words
from ebbtide.errors import TranscriptError
from ebbtide.traces.input.other_databases import kind_of
from ebbtide.traces.input.source import begins_with

SQLITE: Final = b"SQLite format 3\0"


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
