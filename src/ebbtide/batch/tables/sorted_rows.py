"""The runs in batches of Arrow whose rows are sorted by run, as engines that sort give them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from ebbtide.batch.results.archived_run import ArchivedRun, RefusedRun
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.rows_run import held_run

if TYPE_CHECKING:
    import pyarrow as pa


def runs_in(batches: Iterable[pa.RecordBatch], row_map: RowMap, *, source: str) -> Iterator[ArchivedRun]:
    """The runs, one after the other; the rows of one are in memory at a time, as Arrow has them.

    Args:
        batches: All rows, sorted by run.
    """
    nameless = 0
    for name, group in groupby(_stretches(batches, row_map.run), key=itemgetter(0)):
        pieces = (piece for _, piece in group)
        if name is None:  # without holding them: there may be many
            nameless += sum(piece.num_rows for piece in pieces)
        else:
            yield held_run(name, pieces, source, row_map)
    if nameless:
        yield nameless_run(source, nameless, row_map)


def nameless_run(source: str, rows: int, row_map: RowMap) -> RefusedRun:
    """Rows that name no run, as one run that cannot be checked.

    Args:
        source: The table.
        rows: Their number.
    """
    return RefusedRun(source, row_map.nameless(rows), has_id=False)


def _stretches(batches: Iterable[pa.RecordBatch], column: str) -> Iterator[tuple[str | None, pa.RecordBatch]]:
    """The rows of each run in each batch."""
    for batch in batches:
        start = 0
        for name, group in groupby(batch.column(column).to_pylist()):
            length = sum(1 for _ in group)
            yield None if name is None else str(name), batch.slice(start, length)
            start += length
