"""Files of CSV as DuckDB is to read them: nothing about them is guessed, since one bad line misleads a guess.

All cells are read as texts. What they are is told when all of them are there.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from ebbtide.batch.archived_run import RefusedRun
from ebbtide.batch.row_map import RowMap
from ebbtide.batch.sql_text import quoted, sql_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
    """What reads a file in SQL, and its columns, by its first line.

    Args:
        connection: To DuckDB.
        path: The file.
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
        path: The file.
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
    """What columns of texts are, by all of their values.

    Args:
        connection: To DuckDB.
        table: It, in SQL.
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
