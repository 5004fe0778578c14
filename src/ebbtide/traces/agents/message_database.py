"""Databases with a row for each message: what those of Goose and Hermes have in common.

Each session is a run of its own, and states the one that began it. Its rows come as JSON lines in the form
that the agent writes into files, so that one reader knows both.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.traces.agents.session_database import StoredSession, open_database, state_of_files
from ebbtide.traces.input.other_databases import OtherDatabase

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLine:
    """A line of a session.

    Args:
        key: The same for the same record, also where it is written again.
        record: What stands in the line.
        ripe_at: When nothing that belongs before it comes any more, in seconds since 1970.
    """

    key: object
    record: Row
    ripe_at: float = 0.0

    def to_bytes(self) -> bytes:
        """Returns the line."""
        return json.dumps(self.record).encode() + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseLayout:
    """The tables of an agent, and the way to read them.

    Args:
        kind: What it is called, and how to get at a session otherwise.
        newest: The newest version of the tables that is known.
        needed: Columns that are read in any case, by their tables.
        heads: Returns the sessions of a database with a path: all of them, or the one of a name.
        lines: Yields the lines of a session, by its name; the first is its head.
    """

    kind: OtherDatabase
    newest: int
    needed: Mapping[str, frozenset[str]]
    heads: Callable[[sqlite3.Connection, Path, str | None], list[StoredSession]]
    lines: Callable[[sqlite3.Connection, str], Iterator[StoredLine]]

    def refuse_unknown(self, database: sqlite3.Connection, path: Path) -> None:
        """Refuses tables that are not known.

        Raises:
            TranscriptError: They are of a newer version, or lack a column.
        """
        version = version_of(database)
        lacking = [
            f"{table}.{column}"
            for table, columns in self.needed.items()
            for column in sorted(columns - columns_of(database, table))
        ]
        what = ""
        if version is not None and not (isinstance(version, int) and version <= self.newest):
            what = f"its schema is {version}, and those up to {self.newest} can be read"
        elif lacking:
            what = f"it has no {lacking[0]}"
        if what:
            raise TranscriptError(
                f"{self.kind.what}: {what}", source=str(path), hint=self.kind.advice, no_trace=True
            )

    def sessions(self, path: str | os.PathLike[str]) -> list[StoredSession]:
        """Returns the sessions in a database.

        Raises:
            TranscriptError: It cannot be read.
        """
        with open_database(path) as database:
            self.refuse_unknown(database, Path(path))
            return self.heads(database, Path(path), None)

    def session(self, path: str | os.PathLike[str]) -> StoredSession:
        """Returns a session, by its path.

        Raises:
            TranscriptError: It cannot be read.
        """
        file = Path(path)
        with open_database(file.parent) as database:
            self.refuse_unknown(database, file.parent)
            sessions = self.heads(database, file.parent, file.name)
        if not sessions:
            raise TranscriptError("no such session in this database", source=os.fspath(path))
        return sessions[0]

    def read(self, path: str | os.PathLike[str]) -> list[StoredLine]:
        """Returns the lines of a session, each record once.

        Raises:
            TranscriptError: It cannot be read.
        """
        self.session(path)
        file = Path(path)
        with open_database(file.parent) as database:
            lines: dict[object, StoredLine] = {}
            for line in self.lines(database, file.name):
                lines.setdefault(line.key, line)
        return list(lines.values())


class RowTail:
    """Tail of a session in such a database. A head that states another sum comes again.

    Args:
        path: The session.
        layout: The tables of its agent.

    Attributes:
        is_waiting: True if something is there that was not given out yet.

    Raises:
        TranscriptError: It cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], layout: DatabaseLayout) -> None:
        self.is_waiting = False
        self._path = Path(path)
        self._layout = layout
        self._given: set[int] = set()  # a key may hold a whole text
        self._state: object = None
        layout.session(path)

    def look(self) -> bytes:
        """Lines that are new; none where nothing is.

        Raises:
            TranscriptError: It cannot be read any more.
        """
        state = state_of_files(self._path.parent)
        if state == self._state:
            return b""
        lines = []
        now = time.time()
        self.is_waiting = False
        for line in self._layout.read(self._path):
            if line.ripe_at > now:
                self.is_waiting = True
                break
            key = hash(line.key)
            if key not in self._given:
                self._given.add(key)
                lines.append(line.to_bytes())
        self._state = None if self.is_waiting else state
        return b"".join(lines)


def rows_of(database: sqlite3.Connection, query: str, *values: object) -> list[dict[str, Any]]:
    """Returns rows with the names of their columns, of which some versions have more than others."""
    cursor = database.execute(query, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def columns_of(database: sqlite3.Connection, table: str) -> frozenset[str]:
    """Returns the columns of a table; none where it is not there."""
    return frozenset(row[1] for row in database.execute(f"PRAGMA table_info({table})"))


def version_of(database: sqlite3.Connection) -> object:
    """Returns the version of the tables; None where none is written down."""
    if not columns_of(database, "schema_version"):
        return None
    version: object = database.execute("SELECT MAX(version) FROM schema_version").fetchone()[0]
    return version
