"""The rows of a table, run by run, in memory that the largest run bounds.

Files of Parquet, CSV and JSON lines are read by DuckDB, which sorts on disk what is larger than its memory.
SQLite and PostgreSQL sort for themselves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final, Protocol

from ebbtide.batch.archive.archive_pool import Chunk, RunChunk
from ebbtide.batch.results.archived_run import ArchivedRun, RefusedRun
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.rows_run import PackedRows, RowsChunk, RowsRun, held_run, nameless_run, runs_in
from ebbtide.batch.tables.table_files import StagedFiles, one_line, quoted, refuse_missing, staged_files
from ebbtide.database.sqlite_errors import SQLITE_ERRORS, sqlite_words
from ebbtide.errors import ConfigError, EbbtideError

_RUNS: Final = 64  # of a chunk
_ROWS: Final = 4_096  # of a chunk; a longer run is one alone
_BATCH: Final = 2_048  # rows that are read at once
_SQLITE: Final = (".db", ".sqlite", ".sqlite3")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSize:
    """The size of a table.

    Args:
        runs: Runs that have a name.
        refusals: What is of no known run: files and lines that cannot be read, and rows that name none.
    """

    runs: int
    refusals: tuple[RefusedRun, ...] = ()


class RunTable(Protocol):
    """A table of rows, each of a run."""

    @property
    def source(self) -> str:
        """The name of the table in messages."""

    def size(self) -> TableSize:
        """Counts the runs, and lists what belongs to none."""

    def chunks(self, skipped: frozenset[str | None]) -> Iterator[Chunk]:
        """All runs but some, ordered by their names."""


@contextmanager
def open_table(names: Sequence[str], row_map: RowMap) -> Iterator[RunTable]:
    """The table behind names; files are copied into a temporary one.

    Args:
        names: Files, patterns and folders of one kind that are one table; or one ``FILE.db#TABLE`` of SQLite,
            or one ``postgresql://...#TABLE``.

    Raises:
        ConfigError: There is none, a package is missing, or the column of the run or of the order.
        EbbtideError: Nothing of it can be read.
    """
    first = names[0]
    place, _, table = first.partition("#")
    is_database = first.startswith(("postgresql://", "postgres://"))
    if is_database or Path(place).suffix in _SQLITE:
        if len(names) > 1 or not table:
            raise ConfigError(f"{first}: name one table of a database, as in {place}#TABLE")
        if not is_database and not Path(place).is_file():
            raise ConfigError(f"{place}: there is no such file")
        database = _PostgreSQL(place) if is_database else _SQLiteFile(place)
        yield _DatabaseTable(database, table, row_map)
        return
    with staged_files(names, row_map) as files:
        yield _FileTable(files)


class _FileTable:
    def __init__(self, files: StagedFiles) -> None:
        self.source = files.source
        self._files = files

    def size(self) -> TableSize:
        run = quoted(self._files.row_map.run)
        ((runs, nameless),) = self._files.connection.execute(
            f"SELECT count(DISTINCT {run}), count(*) - count({run}) FROM typed"  # noqa: S608 - quoted
        ).fetchall()
        refusals = nameless_run(self.source, nameless, self._files.row_map), *self._files.refusals
        return TableSize(runs=runs, refusals=refusals[0 if nameless else 1 :])

    def chunks(self, skipped: frozenset[str | None]) -> Iterator[Chunk]:
        row_map = self._files.row_map
        run, order = quoted(row_map.run), quoted(row_map.order)
        table = self._files.connection.sql(
            f"SELECT * FROM typed WHERE {run} IS NOT NULL "  # noqa: S608 - quoted
            f"ORDER BY CAST({run} AS VARCHAR), {order} NULLS LAST"
        )
        runs = runs_in(table.to_arrow_reader(_BATCH), row_map, source=self.source)
        yield from _chunks(runs, skipped, RowsChunk.of)


def _chunks(
    runs: Iterable[ArchivedRun], skipped: frozenset[str | None], pack: Callable[[Sequence[RowsRun]], Chunk]
) -> Iterator[Chunk]:
    """Runs in chunks of few, and of few rows."""
    members: list[RowsRun] = []
    for run in runs:
        if run.run_id in skipped:
            continue
        if not isinstance(run, RowsRun):
            yield RunChunk((run,))
            continue
        rows = sum(member.num_rows for member in members)
        if members and (len(members) >= _RUNS or rows + run.num_rows > _ROWS):
            chunk, members = pack(members), []  # what is packed is not held twice
            yield chunk
        members.append(run)
    if members:
        yield pack(members)


class _Database(Protocol):
    @property
    def source(self) -> str:
        """The place of the database, for messages."""

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """The rows that a query gives, as they come."""


@dataclass(frozen=True, slots=True)
class _SQLiteFile:
    source: str

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """As `_Database.rows`; the file is opened to be read."""
        uri = f"{Path(self.source).absolute().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as connection:
                connection.row_factory = sqlite3.Row
                for row in connection.execute(query):
                    yield dict(row)
        except SQLITE_ERRORS as error:
            raise EbbtideError(f"{self.source}: {' '.join(sqlite_words(error).split())}") from error


@dataclass(frozen=True, slots=True)
class _PostgreSQL:
    source: str

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """As `_Database.rows`; the server holds what was not fetched yet."""
        try:
            import psycopg
            from psycopg.rows import dict_row
        except ImportError as error:
            raise ConfigError(
                "PostgreSQL needs the package psycopg. Install it: pip install 'ebbtide[postgres]'"
            ) from error
        try:
            with psycopg.connect(self.source) as connection:
                connection.read_only = True
                with connection.cursor("ebbtide", row_factory=dict_row) as cursor:
                    cursor.itersize = _BATCH
                    cursor.execute(query.encode())
                    yield from cursor
        except psycopg.Error as error:
            raise EbbtideError(f"the database cannot be read: {one_line(error)}") from error


class _DatabaseTable:
    def __init__(self, database: _Database, table: str, row_map: RowMap) -> None:
        # Not the URL: it may hold a password.
        self.source = table if isinstance(database, _PostgreSQL) else f"{database.source}#{table}"
        self._database = database
        self._table = ".".join(map(quoted, table.split(".")))
        self._map = row_map
        first = next(database.rows(f"SELECT * FROM {self._table} LIMIT 1"), None)  # noqa: S608
        if first is None:
            raise ConfigError(f"{self.source}: the table is empty")
        refuse_missing(list(first), row_map, self.source)
        columns = (name for name in first if row_map.columns is None or name in row_map.columns)
        self._columns = ", ".join(map(quoted, columns))

    def size(self) -> TableSize:
        run = quoted(self._map.run)
        query = (
            f"SELECT count(DISTINCT {run}) AS runs, count(*) - count({run}) AS nameless "  # noqa: S608
            f"FROM {self._table}"
        )
        size = next(self._database.rows(query))
        nameless = nameless_run(self.source, size["nameless"], self._map)
        return TableSize(runs=size["runs"], refusals=(nameless,) if size["nameless"] else ())

    def chunks(self, skipped: frozenset[str | None]) -> Iterator[Chunk]:
        run, order = quoted(self._map.run), quoted(self._map.order)
        query = (
            f"SELECT {self._columns} FROM {self._table} WHERE {run} IS NOT NULL "  # noqa: S608
            f"ORDER BY {run}, {order} NULLS LAST"
        )
        rows = self._database.rows(query)
        runs = (
            held_run(run_id, _packed(group), self.source, self._map)
            for run_id, group in groupby(rows, key=lambda row: str(row[self._map.run]))
        )
        yield from _chunks(runs, skipped, lambda members: RunChunk(tuple(members)))


def _packed(rows: Iterator[dict[str, Any]]) -> Iterator[PackedRows]:
    while piece := list(islice(rows, _BATCH)):
        yield PackedRows.of(piece)
