"""The options that say where the runs of an archive are."""

from __future__ import annotations

from typing import Annotated

from ebbtide.batch.tables.row_map import RowMap
from ebbtide.cli.declaration import Argument, Option, shared
from ebbtide.errors import ConfigError

_ROWS = "Tables"

Sources = Annotated[
    list[str], Argument(metavar="FILE|DIR|URL...", help="Files, folders, patterns, and URLs such as s3://...")
]
RunTimeout = Annotated[
    float,
    Option(
        "--run-timeout",
        metavar="S",
        at_least=0,
        help="Skip a run that takes longer than S seconds to check; 0 sets no limit.",
    ),
]
_Rows = Annotated[
    bool, Option("--rows", help="Read the sources as tables with one row per span or event.", section=_ROWS)
]
_RowMapName = Annotated[
    str | None,
    Option(
        "--map",
        metavar="NAME|FILE",
        help="Column map: otlp-clickhouse, langfuse, mlflow, phoenix, or a TOML file.",
        section=_ROWS,
    ),
]
_RunColumn = Annotated[
    str | None, Option("--run", metavar="COLUMN", help="Column that names the run.", section=_ROWS)
]
_OrderColumn = Annotated[
    str | None,
    Option("--order", metavar="COLUMN", help="Column that orders the rows of a run.", section=_ROWS),
]


def read_columns(*, rows: bool, row_map: str | None, run: str | None, order: str | None) -> RowMap | None:
    """The columns of the tables that the sources are; None where they are files of runs.

    Args:
        rows: The sources are tables.
        row_map: Name or file of a map; None takes columns by their names.
        run: The column that names the run; None takes that of the map.
        order: The column by which its rows are ordered; likewise.

    Raises:
        ConfigError: There is no such map, or columns are named and the sources are files.
    """
    if rows:
        return (RowMap() if row_map is None else RowMap.load(row_map)).by(run, order)
    if row_map or run or order:
        raise ConfigError("--map, --run and --order are about tables; add --rows")
    return None


with_columns = shared(
    {
        "rows": (_Rows, False),
        "row_map": (_RowMapName, None),
        "run": (_RunColumn, None),
        "order": (_OrderColumn, None),
    },
    read_columns,
)
