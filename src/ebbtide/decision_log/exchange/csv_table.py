"""A log as a table: CSV with a line of names, also with semicolons or tabs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from ebbtide.decision_log.exchange.arrivals import Arrival, Broken, Origins
from ebbtide.decision_log.exchange.rows import RowFields, entry_of
from ebbtide.errors import ConfigError, TranscriptError

_LONGEST_FIELD = 1 << 27  # characters


def read_csv(content: str, source: str, keys: RowFields | None = None) -> Iterator[Arrival]:
    """The decisions of a table, a row each.

    Args:
        content: The file; a quoted cell may hold line ends.
        source: What messages call the file.
        keys: Which column means what.

    Raises:
        TranscriptError: There is no column for the description.
    """
    names = keys or RowFields()
    csv.field_size_limit(_LONGEST_FIELD)
    lines = io.StringIO(content.removeprefix("\ufeff"), newline="")
    delimiter = _delimiter(lines.readline())
    lines.seek(0)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    origins = Origins("csv")
    columns: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Broken(what=f"not CSV: {error}", source=source, line=line)
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if not columns:
            columns = [cell.strip() for cell in cells]
            names.note(dict.fromkeys(columns))
            _check(columns, names, source)
            continue
        try:
            yield entry_of(_row(columns, cells), names, origins)
        except (TranscriptError, ConfigError) as error:
            yield Broken.of(error, source, line)


def _row(columns: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(columns):
        raise TranscriptError(f"{len(cells)} cells, where the first line names {len(columns)}")
    return {name: cell for name, cell in zip(columns, cells, strict=True) if cell.strip()}


def _delimiter(header: str) -> str:
    return max(",;\t", key=header.count)


def _check(columns: list[str], names: RowFields, source: str) -> None:
    if names.description not in columns:
        raise TranscriptError(
            f"there is no column {names.description!r}",
            source=source,
            line=1,
            hint=f"The columns are {', '.join(map(repr, columns)):.300}; "
            "--fields description=COLUMN says which one it is.",
        )
