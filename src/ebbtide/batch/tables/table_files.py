"""A table in files of Parquet, CSV or JSON lines, which DuckDB copies into one of its own, file by file.

So a file that is damaged, or a line that is none, costs no other, and what is larger than memory is sorted on
disk.
"""

from __future__ import annotations

import csv
import glob
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ebbtide.batch.results.archived_run import RefusedRun
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.errors import ConfigError, EbbtideError, error_text
from ebbtide.settings_file import meant

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_MEMORY: Final = "1GB"  # of DuckDB
# A line that is no JSON becomes a row without values, so that it costs no other.
_JSON_LINES: Final = "read_json({}, format = 'newline_delimited', ignore_errors = true, {})"
_JSON: Final = {
    ".jsonl": _JSON_LINES,
    ".ndjson": _JSON_LINES,
    ".json": "read_json({}, {})",
}
_PARQUET: Final = ".parquet"
_CSV: Final = ".csv"
_SUFFIXES: Final = (_PARQUET, _CSV, *_JSON)
_NUMBERS: Final = frozenset(("BIGINT", "DOUBLE"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file of a table.

    Args:
        reader: What reads it, in SQL.
        kinds: Its columns and their types.
    """

    path: str
    reader: str
    kinds: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class StagedFiles:
    """Files, copied into DuckDB, where they are the table ``typed``.

    Args:
        connection: To DuckDB.
        row_map: What the columns are, as they lie there.
        source: What messages call the table.
        suffix: How the names of the files end.
        refusals: The files and the lines that could not be read.
    """

    connection: DuckDBPyConnection
    row_map: RowMap
    source: str
    suffix: str
    refusals: list[RefusedRun] = field(default_factory=list)

    def copy(self, paths: Sequence[str]) -> None:
        """Copy files.

        Raises:
            ConfigError: The column of the run or of the order is in none of them.
            EbbtideError: None of them can be read.
        """
        listed = ", ".join(map(sql_text, paths))
        names = self.connection.execute(f"SELECT file FROM glob([{listed}])").fetchall()  # noqa: S608 - quoted
        files = [file for (path,) in names if (file := self._described(path)) is not None]
        if not files:
            what = self.refusals[0].what if self.refusals else "there is no such file"
            raise EbbtideError(f"{self.source}: {what}")
        columns = list(dict.fromkeys(name for file in files for name in file.kinds))
        refuse_missing(columns, self.row_map, self.source)
        run = self.row_map.run
        for file in files:
            if run not in file.kinds:
                self.refusals.append(RefusedRun(file.path, f"there is no column {run!r}", has_id=False))
        files = [file for file in files if run in file.kinds]
        if self.suffix in _JSON:
            files = self._as_texts(files, columns)
        of_map = self.row_map.columns
        columns = [name for name in columns if of_map is None or name in of_map]
        shapes = {tuple(file.kinds.items()): file.kinds for file in files}.values()
        empty = " UNION ALL BY NAME ".join(_empty(kinds, columns) for kinds in shapes)
        self.connection.execute(f"CREATE TABLE staged AS {empty}")
        for file in files:
            self._copy(file, ", ".join(quoted(name) for name in columns if name in file.kinds))
        selected = ["*"]
        if self.suffix == _CSV:
            selected, numbers = typed_columns(self.connection, "staged", self.row_map)
            self.row_map = replace(self.row_map, numbers=numbers)
        self.connection.execute(f"CREATE VIEW typed AS SELECT {', '.join(selected)} FROM staged")  # noqa: S608

    def _described(self, path: str) -> _File | None:
        try:
            if self.suffix == _CSV:
                reader, names = csv_file(self.connection, path, self.row_map)
                return _File(path=path, reader=reader, kinds=dict.fromkeys(names, TEXT))
            reader = f"read_parquet({sql_text(path)})"
            if self.suffix in _JSON:
                reader = _JSON[self.suffix].format(sql_text(path), "sample_size = -1")
            return _File(path=path, reader=reader, kinds=self._kinds(reader))
        except _duckdb().Error as error:
            self.refusals.append(RefusedRun(path, one_line(error), has_id=False))
            return None

    def _kinds(self, reader: str) -> dict[str, str]:
        """The columns of a file and their types, by all its lines: a value that fits none would be lost."""
        table = self.connection.sql(f"SELECT * FROM {reader} LIMIT 0")  # noqa: S608 - quoted
        return dict(zip(table.columns, map(str, table.types), strict=True))

    def _as_texts(self, files: list[_File], columns: Sequence[str]) -> list[_File]:
        """Files of JSON, read in one type a column, where nothing is lost: what is nested is a text."""
        kinds = {name: {file.kinds[name] for file in files if name in file.kinds} for name in columns}
        types = {name: _column_type(of) for name, of in kinds.items()}
        nested = {name for name, of in kinds.items() if any(map(_is_nested, of)) or of == {"JSON"}}
        self.row_map = replace(self.row_map, json=self.row_map.json | nested)
        pairs = ", ".join(f"{sql_text(name)}: {sql_text(kind)}" for name, kind in types.items())
        return [
            replace(
                file,
                reader=_JSON[self.suffix].format(sql_text(file.path), f"columns = {{{pairs}}}"),
                kinds=types,
            )
            for file in files
        ]

    def _copy(self, file: _File, columns: str) -> None:
        try:
            self.connection.execute(f"INSERT INTO staged BY NAME SELECT {columns} FROM {file.reader}")  # noqa: S608
        except _duckdb().Error as error:
            self.refusals.append(RefusedRun(file.path, one_line(error), has_id=False))
        if self.suffix == _CSV:
            self.refusals += bad_lines(self.connection, file.path)


@contextmanager
def staged_files(names: Sequence[str], row_map: RowMap) -> Iterator[StagedFiles]:
    """All rows of some files in one table of DuckDB, in a temporary folder.

    Args:
        names: Files, patterns and folders of one kind.
        row_map: What the columns are; those that it does not read are not copied.

    Raises:
        ConfigError: DuckDB is not installed, there is no such file, or no column of the run or the order.
        EbbtideError: None of the files can be read.
    """
    duckdb = _duckdb()
    paths, suffix = _paths(names)
    source = ", ".join(names)
    with tempfile.TemporaryDirectory(prefix="ebbtide-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": _MEMORY,
            "temp_directory": folder,
            "preserve_insertion_order": False,
        }
        with duckdb.connect(Path(folder, "rows.duckdb"), config=settings) as connection:
            try:
                connection.execute("SET enable_progress_bar = false")  # it goes to standard output
                connection.execute("SET TimeZone = 'UTC'")  # of times without a zone
                files = StagedFiles(connection=connection, row_map=row_map, source=source, suffix=suffix)
                files.copy(paths)
                yield files
            except duckdb.Error as error:
                raise EbbtideError(f"{source}: {one_line(error)}") from error


def refuse_missing(columns: Sequence[str], row_map: RowMap, source: str) -> None:
    """Refuse a table without the column of the run or of the order.

    Raises:
        ConfigError: It is not there.
    """
    for name in (row_map.run, row_map.order):
        if name not in columns:
            guess = meant(name, columns).rstrip("?")
            raise ConfigError(f"{source}: there is no column {name!r}{guess}. It has: {', '.join(columns)}")


def one_line(error: Exception) -> str:
    """The first line of what an error says."""
    return error_text(error).partition("\n")[0]


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError as error:
        raise ConfigError(
            "rows of files need the package duckdb. Install it: pip install 'ebbtide[duckdb]'"
        ) from error
    return duckdb


def _empty(kinds: Mapping[str, str], columns: Sequence[str]) -> str:
    """A table without rows."""
    cells = (f"CAST(NULL AS {kinds[name]}) AS {quoted(name)}" for name in columns if name in kinds)
    return f"(SELECT {', '.join(cells)} LIMIT 0)"


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
            inside = [path for path in Path(name).rglob("*") if _suffix(str(path)) in _SUFFIXES]
            if not inside:
                raise ConfigError(f"{name}: there is no table in this folder")
            suffixes.update(_suffix(str(path)) for path in inside)
            paths += sorted(map(str, inside))
        else:
            suffixes.add(_suffix(name))
            paths.append(name)
    if len(suffixes) > 1 or suffixes.difference(_SUFFIXES):
        raise ConfigError(
            f"{', '.join(names)}: expected tables of one kind: {', '.join(_SUFFIXES)}, "
            "FILE.db#TABLE of SQLite or postgresql://...#TABLE"
        )
    (suffix,) = suffixes
    return paths, suffix


def _suffix(name: str) -> str:
    path = Path(name.removesuffix(".gz").removesuffix(".zst"))
    return path.suffix.lower()


TEXT: Final = "VARCHAR"
_DELIMITERS: Final = ",;\t|"
_LONGEST: Final = "max_line_size = 16777216, buffer_size = 33554432"
_LINES: Final = (
    "read_csv({}, auto_detect = false, header = false, delim = '\x01', quote = '', escape = '', "
    f"columns = {{{{line: 'VARCHAR'}}}}, ignore_errors = true, {_LONGEST})"
)
_READER: Final = (
    "read_csv({}, auto_detect = false, header = true, delim = {}, quote = '\"', escape = '\"', "
    f"columns = {{{{{{}}}}}}, store_rejects = true, {_LONGEST})"
)
_LISTED: Final = 100  # bad lines of a file
_REASONS: Final = {
    "MISSING COLUMNS": "fewer columns than the first line has",
    "TOO MANY COLUMNS": "more columns than the first line has",
    "UNQUOTED VALUE": "a quote that is not closed, or text behind it; lines behind it may be lost",
    "LINE SIZE OVER MAXIMUM": "longer than 16 MB",
    "INVALID ENCODING": "not UTF-8",
}
#: What a column of texts is where each of them reads as such.
_TYPES: Final = {
    "BOOLEAN": "lower({0}) IN ('true', 'false')",
    "TIMESTAMPTZ": "{0} LIKE '%:%' AND TRY_CAST({0} AS TIMESTAMPTZ) IS NOT NULL",
}
_NUMBER: Final = "DECIMAL(38, 9)"  # of seconds or nanoseconds, and nothing of them lost


def csv_file(connection: DuckDBPyConnection, path: str, row_map: RowMap) -> tuple[str, list[str]]:
    """Returns the SQL that reads a file, and its columns by its first line.

    Args:
        connection: To DuckDB.
        row_map: The delimiter is the one between the columns that it names.
    """
    reader = _LINES.format(sql_text(path))
    lines = connection.execute(f"SELECT line FROM {reader} LIMIT 1").fetchall()  # noqa: S608 - quoted
    head = lines[0][0].removeprefix("\ufeff") if lines else ""
    splits = {delimiter: next(csv.reader([head], delimiter=delimiter), []) for delimiter in _DELIMITERS}
    delimiter = max(
        splits, key=lambda one: ({row_map.run, row_map.order} <= {*splits[one]}, len(splits[one]))
    )
    names = splits[delimiter]
    columns = ", ".join(f"{sql_text(name)}: '{TEXT}'" for name in names)
    return _READER.format(sql_text(path), sql_text(delimiter), columns), names


def bad_lines(connection: DuckDBPyConnection, path: str) -> Iterator[RefusedRun]:
    """The lines that were left out of the file that was read last.

    Args:
        connection: By which it was read.
    """
    errors = connection.execute(
        "SELECT line, error_type::VARCHAR FROM reject_errors ORDER BY line, error_type"
    ).fetchall()
    connection.execute("DROP TABLE reject_errors; DROP TABLE reject_scans")
    lines = [next(group) for _, group in groupby(errors, key=itemgetter(0))]
    for line, kind in lines[:_LISTED]:
        yield RefusedRun(path, _REASONS.get(kind, kind), has_id=False, line=line)
    if len(lines) > _LISTED:
        yield RefusedRun(path, f"{len(lines) - _LISTED:,} more lines that cannot be read", has_id=False)


def typed_columns(
    connection: DuckDBPyConnection, table: str, row_map: RowMap
) -> tuple[list[str], frozenset[str]]:
    """Finds the types of columns of texts by all of their values.

    Args:
        connection: To DuckDB.
        table: The table, as SQL names it.
        row_map: The column of its run stays a text.

    Returns:
        The columns, as SQL selects them; and those most of whose texts are numbers. A few that are none stay
        what they are, but for the column of the order, where they are not known.
    """
    names = connection.table(table).columns
    numbers: set[str] = set()
    selected = []
    for name in names:
        column = quoted(name)
        tests = ", ".join(f"count(*) FILTER ({test.format(column)})" for test in _TYPES.values())
        ((count, number_count, *counts),) = connection.execute(
            f"SELECT count({column}), count(TRY_CAST({column} AS DOUBLE)), {tests} FROM {table}"  # noqa: S608
        ).fetchall()
        kinds = [kind for kind, size in zip(_TYPES, counts, strict=True) if size == count > 0]
        if name != row_map.run and 2 * number_count > count:
            numbers.add(name)
            kinds = [_NUMBER] if name == row_map.order else []
        is_typed = kinds and name != row_map.run
        selected.append(f"TRY_CAST({column} AS {kinds[0]}) AS {column}" if is_typed else column)
    return selected, frozenset(numbers)


def quoted(name: str) -> str:
    """The name of a column or a table."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """A text."""
    return "'" + text.replace("'", "''") + "'"
