"""The runs in batches of Arrow whose rows are sorted by run, as engines that sort give them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from ebbtide.batch.archived_run import ArchivedRun, RefusedRun
from ebbtide.batch.arrow_types import arrow_library
from ebbtide.batch.row_map import RowMap
from ebbtide.batch.rows_run import RowsRun

if TYPE_CHECKING:
    import pyarrow as pa


def runs_in(batches: Iterable[pa.RecordBatch], row_map: RowMap, *, source: str) -> Iterator[ArchivedRun]:
    """The runs, one after the other; the rows of one are in memory at a time.

    Args:
        batches: All rows, sorted by run.
        row_map: What the columns are.
        source: The table.
    """
    pa = arrow_library()
    nameless = 0
    for name, group in groupby(_stretches(batches, row_map.run), key=itemgetter(0)):
        if name is None:  # without holding them: there may be many
            nameless += sum(len(piece) for _, piece in group)
            continue
        rows = pa.Table.from_batches([piece for _, piece in group])
        yield RowsRun(run_id=name, source=source, rows=rows, row_map=row_map)
    if nameless:
        yield nameless_run(source, nameless, row_map)


def nameless_run(source: str, rows: int, row_map: RowMap) -> RefusedRun:
    """Rows that name no run, as one run that cannot be checked.

    Args:
        source: The table.
        rows: Their number.
        row_map: What the columns are.
    """
    what = f"{rows:,} rows have no {row_map.run}, so nobody knows their runs"
    return RefusedRun(source, what, has_id=False)


def _stretches(batches: Iterable[pa.RecordBatch], column: str) -> Iterator[tuple[str | None, pa.RecordBatch]]:
    """The rows of each run in each batch."""
    from pyarrow.compute import run_end_encode

    for batch in batches:
        runs = run_end_encode(batch.column(column))
        start = 0
        for name, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            yield None if name is None else str(name), batch.slice(start, end - start)
            start = end
