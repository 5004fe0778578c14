"""The rows of a table, run by run, in memory that the largest run bounds.

Files of Parquet, CSV and JSON lines are read by DuckDB, which sorts on disk what is larger than its memory.
SQLite and PostgreSQL sort for themselves.
"""

from __future__ import annotations

import glob
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from ebbtide.batch.archive_pool import Chunk, RunChunk
from ebbtide.batch.archived_run import ArchivedRun
from ebbtide.batch.row_map import RowMap
from ebbtide.batch.rows_run import PackedRows, RowsChunk, RowsRun, held_run
from ebbtide.batch.sorted_rows import nameless_run, runs_in
from ebbtide.errors import ConfigError, EbbtideError, error_text
from ebbtide.settings_file import meant

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_RUNS: Final = 64  # of a chunk
_ROWS: Final = 4_096  # of a chunk; a longer run is one alone
_BATCH: Final = 2_048  # rows that are read at once
_MEMORY: Final = "1GB"  # of DuckDB
# A line that is no JSON becomes a row without values, so that it costs no other.
_JSON_LINES: Final = "read_json({}, format = 'newline_delimited', ignore_errors = true, {})"
_READERS: Final = {
    ".parquet": "read_parquet({}, {})",
    ".csv": "read_csv({}, {})",
    ".jsonl": _JSON_LINES,
    ".ndjson": _JSON_LINES,
    ".json": "read_json({}, {})",
}
_JSON_SUFFIXES: Final = frozenset((".jsonl", ".ndjson", ".json"))
_NUMBERS: Final = frozenset(("BIGINT", "DOUBLE"))
_SQLITE: Final = (".db", ".sqlite", ".sqlite3")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSize:
    """How large a table is.

    Args:
        runs: Runs that have a name.
        nameless: Rows that name no run.
    """

    runs: int
    nameless: int


class RunTable(Protocol):
    """A table of rows, each of a run."""

    @property
    def source(self) -> str:
        """What messages call it."""

    def size(self) -> TableSize:
        """How large it is."""

    def chunks(self, skipped: frozenset[str | None]) -> Iterator[Chunk]:
        """All runs but some, ordered by their names."""


def open_table(names: Sequence[str], row_map: RowMap) -> RunTable:
    """The table behind names.

    Args:
        names: Files, patterns and folders of one kind that are one table; or one ``FILE.db#TABLE`` of SQLite,
            or one ``postgresql://...#TABLE``.
        row_map: What its columns are.

    Raises:
        ConfigError: There is none, a package is missing, or a column of the map is not in it.
    """
    first = names[0]
    place, _, table = first.partition("#")
    is_database = first.startswith(("postgresql://", "postgres://"))
    if is_database or Path(place).suffix in _SQLITE:
        if len(names) > 1 or not table:
            raise ConfigError(f"{first}: name one table of a database, as in {place}#TABLE")
        if is_database:
            return _DatabaseTable(_PostgreSQL(place), table, row_map)
        if not Path(place).is_file():
            raise ConfigError(f"{place}: there is no such file")
        return _DatabaseTable(_SQLiteFile(place), table, row_map)
    return _FileTable(names, row_map)


class _FileTable:
    def __init__(self, names: Sequence[str], row_map: RowMap) -> None:
        self.source = ", ".join(names)
        paths, suffix = _paths(names)
        self._map = row_map
        with self._connection() as connection:
            listed = ", ".join(map(_text, paths))
            if suffix in _JSON_SUFFIXES:
                kinds = _json_kinds(connection, listed, suffix)
                pairs = ", ".join(f"{_text(name)}: {_text(_column_type(kinds[name]))}" for name in kinds)
                self._relation = _READERS[suffix].format(f"[{listed}]", f"columns = {{{pairs}}}")
                nested = {name for name, of in kinds.items() if any(map(_is_nested, of)) or of == {"JSON"}}
                self._map = replace(row_map, json=row_map.json | nested)
                columns = list(kinds)
            else:
                self._relation = _READERS[suffix].format(f"[{listed}]", "union_by_name = true")
                columns = connection.sql(f"SELECT * FROM {self._relation} LIMIT 0").columns  # noqa: S608 - quoted
        self._columns = _listed(columns, row_map, self.source)

    def size(self) -> TableSize:
        run = _quoted(self._map.run)
        with self._connection() as connection:
            answer = connection.execute(
                f"SELECT count(DISTINCT {run}), count(*) - count({run}) FROM {self._relation}"  # noqa: S608
            ).fetchone()
        runs, nameless = answer or (0, 0)
        return TableSize(runs=runs, nameless=nameless)

    def chunks(self, skipped: frozenset[str | None]) -> Iterator[Chunk]:
        run, order = _quoted(self._map.run), _quoted(self._map.order)
        query = (
            f"SELECT {self._columns} FROM {self._relation} WHERE {run} IS NOT NULL "  # noqa: S608
            f"ORDER BY CAST({run} AS VARCHAR), {order} NULLS LAST"
        )
        with self._connection() as connection:
            runs = runs_in(connection.sql(query).to_arrow_reader(_BATCH), self._map, source=self.source)
            yield from _chunks(runs, skipped, RowsChunk.of)

    @contextmanager
    def _connection(self) -> Iterator[DuckDBPyConnection]:
        try:
            import duckdb
        except ImportError as error:
            raise ConfigError(
                "rows of files need the package duckdb. Install it: pip install 'ebbtide[duckdb]'"
            ) from error
        with tempfile.TemporaryDirectory(prefix="ebbtide-") as folder:
            settings: dict[str, str | bool | int | float | list[str]] = {
                "memory_limit": _MEMORY,
                "temp_directory": folder,
                "preserve_insertion_order": False,
            }
            with duckdb.connect(config=settings) as connection:
                try:
                    connection.execute("SET enable_progress_bar = false")  # it goes to standard output
                    yield connection
                except duckdb.Error as error:
                    raise EbbtideError(f"{self.source}: {_one_line(error)}") from error


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
        """Where it is."""

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
        except sqlite3.Error as error:
            raise EbbtideError(f"{self.source}: {_one_line(error)}") from error


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
            raise EbbtideError(f"the database cannot be read: {_one_line(error)}") from error


class _DatabaseTable:
    def __init__(self, database: _Database, table: str, row_map: RowMap) -> None:
        # Not the URL: it may hold a password.
        self.source = table if isinstance(database, _PostgreSQL) else f"{database.source}#{table}"
        self._database = database
        self._table = ".".join(map(_quoted, table.split(".")))
        self._map = row_map
        first = next(database.rows(f"SELECT * FROM {self._table} LIMIT 1"), None)  # noqa: S608
        if first is None:
            raise ConfigError(f"{self.source}: the table is empty")
        self._columns = _listed(list(first), row_map, self.source)

    def size(self) -> TableSize:
        run = _quoted(self._map.run)
        query = (
            f"SELECT count(DISTINCT {run}) AS runs, count(*) - count({run}) AS nameless "  # noqa: S608
            f"FROM {self._table}"
        )
        return TableSize(**next(self._database.rows(query)))

    def chunks(self, skipped: frozenset[str | None]) -> Iterator[Chunk]:
        run, order = _quoted(self._map.run), _quoted(self._map.order)
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


def nameless_chunk(table: RunTable, size: TableSize, row_map: RowMap) -> RunChunk:
    """The rows that name no run, as one run that cannot be checked."""
    return RunChunk((nameless_run(table.source, size.nameless, row_map),))


def _json_kinds(connection: DuckDBPyConnection, listed: str, suffix: str) -> dict[str, set[str]]:
    """The columns of files of JSON, and the types that each has in one file or the other.

    All lines are read for it, and not the first thousands: a value that fits no column would be lost. File by
    file, since DuckDB keeps 32 MB for each that it reads at a time.
    """
    kinds: dict[str, set[str]] = {}
    for (path,) in connection.execute(f"SELECT file FROM glob([{listed}])").fetchall():  # noqa: S608 - quoted
        relation = _READERS[suffix].format(f"[{_text(path)}]", "sample_size = -1")
        table = connection.sql(f"SELECT * FROM {relation} LIMIT 0")  # noqa: S608 - quoted
        for name, kind in zip(table.columns, map(str, table.types), strict=True):
            kinds.setdefault(name, set()).add(kind)
    return kinds


def _is_nested(kind: str) -> bool:
    return kind.endswith((")", "]"))


def _column_type(kinds: set[str]) -> str:
    """The type in which nothing of a column is lost; what is nested, or of several types, is read as a text.

    A file in which all of it is null says JSON.
    """
    others = kinds - {"JSON"}
    if len(others) == 1 and not any(map(_is_nested, others)):
        return others.pop()
    return "DOUBLE" if others and others <= _NUMBERS else "VARCHAR"


def _paths(names: Sequence[str]) -> tuple[list[str], str]:
    """The files of a table, and how their names end."""
    suffixes: set[str] = set()
    paths: list[str] = []
    for name in names:
        if "://" not in name and not glob.has_magic(name) and not os.path.lexists(name):
            raise ConfigError(f"{name}: there is no such file")
        if os.path.isdir(name):  # noqa: PTH112 - as in `archive_files`
            inside = [path for path in Path(name).rglob("*") if _suffix(str(path)) in _READERS]
            if not inside:
                raise ConfigError(f"{name}: there is no table in this folder")
            suffixes.update(_suffix(str(path)) for path in inside)
            paths += sorted(map(str, inside))
        else:
            suffixes.add(_suffix(name))
            paths.append(name)
    if len(suffixes) > 1 or not suffixes <= _READERS.keys():
        raise ConfigError(
            f"{', '.join(names)}: expected tables of one kind: {', '.join(_READERS)}, "
            "FILE.db#TABLE of SQLite or postgresql://...#TABLE"
        )
    (suffix,) = suffixes
    return paths, suffix


def _suffix(name: str) -> str:
    path = Path(name.removesuffix(".gz").removesuffix(".zst"))
    return path.suffix.lower()


def _listed(columns: Sequence[str], row_map: RowMap, source: str) -> str:
    """The columns of a table that are read, as SQL lists them; those that it does not have are not known.

    Raises:
        ConfigError: That of the run or of the order is not there.
    """
    for name in (row_map.run, row_map.order):
        if name not in columns:
            guess = meant(name, columns).rstrip("?")
            raise ConfigError(f"{source}: there is no column {name!r}{guess}. It has: {', '.join(columns)}")
    return ", ".join(_quoted(name) for name in columns if row_map.columns is None or name in row_map.columns)


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _one_line(error: Exception) -> str:
    return error_text(error).partition("\n")[0]
