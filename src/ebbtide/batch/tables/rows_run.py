"""Runs whose events lie in the rows of a table, and those in batches of Arrow that are sorted by run."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import UUID

from ebbtide.batch.results.archived_run import ArchivedRun, RefusedRun, events_of
from ebbtide.batch.results.arrow_types import arrow_library
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.checking import check_trace
from ebbtide.events.event import Event
from ebbtide.events.transcript import Round
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.traces.reading import Trace
from ebbtide.traces.record_trace import trace_of_records

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ROWS: Final = 1_000_000  #: of a run in rows
MOST_BYTES: Final = 1 << 30  #: of those rows in memory
_MB: Final = 1 << 20
_PLAIN_ROWS: Final = 1_024  # of a piece that are plain data at a time


class RowPiece(Protocol):
    """Some rows of a run: a batch of Arrow, or a `PackedRows`."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Rows of a database, as small as they are: the mappings themselves take ten times as much."""

    num_rows: int
    data: bytes

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> PackedRows:
        """Packs rows, which have the same columns."""
        return cls(len(rows), pickle.dumps((list(rows[0]), [tuple(row.values()) for row in rows])))

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return len(self.data)

    def mappings(self) -> Iterator[dict[str, Any]]:
        """Yields the rows, one mapping for each."""
        names, rows = pickle.loads(self.data)  # noqa: S301 - our own
        return (dict(zip(names, row, strict=True)) for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRun:
    """A run in rows."""

    run_id: str
    source: str
    pieces: Sequence[RowPiece]
    row_map: RowMap

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return sum(piece.num_rows for piece in self.pieces)

    def summary(self, options: RunOptions) -> RunSummary:
        """As `ArchivedRun.summary`; few rows are plain data at a time."""
        unordered = 0

        def rows() -> Iterator[Mapping[str, Any]]:
            nonlocal unordered
            for row in plain_rows(self.pieces):
                unordered += row.get(self.row_map.order) is None
                yield row

        summary = check_trace(self._trace(rows()), options)
        if not unordered:
            return summary
        fault = f"{unordered:,} of {self.num_rows:,} rows have no {self.row_map.order}: they come last"
        return dataclasses.replace(
            summary, faults=(fault, *summary.faults), degraded=summary.degraded + unordered
        )

    def read(self) -> Iterator[Event | Round]:
        """As `ArchivedRun.read`."""
        return events_of(self._trace(plain_rows(self.pieces)))

    def _trace(self, rows: Iterable[Mapping[str, Any]]) -> Trace:
        records = map(self.row_map.record_of, rows)
        return trace_of_records(records, source=self.source, form=self.row_map.format)


def held_run(run_id: str, pieces: Iterable[RowPiece], source: str, row_map: RowMap) -> RowsRun | RefusedRun:
    """The run in rows that come piece by piece; one that is too long to be held is refused.

    Args:
        pieces: Its rows, in order; they are gone through to their end.
    """
    batches: list[RowPiece] = []
    rows = size = 0
    for piece in pieces:
        rows += piece.num_rows
        size += piece.nbytes
        if rows <= MOST_ROWS and size <= MOST_BYTES:
            batches.append(piece)
        else:
            batches.clear()
    if rows <= MOST_ROWS and size <= MOST_BYTES:
        return RowsRun(run_id=run_id, source=source, pieces=batches, row_map=row_map)
    what = (
        f"too long: {rows:,} rows of {size / _MB:,.0f} MB. A run in rows may have {MOST_ROWS:,} rows of "
        f"{MOST_BYTES / _MB:,.0f} MB; one in a file of its own may have any length"
    )
    return RefusedRun(source, what, name=run_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsChunk:
    """Some runs in rows of Arrow, in a form that is sent to another process quickly.

    Args:
        data: Their rows, one run behind the other, as a stream of Arrow.
        lengths: Each run and its number of rows.
    """

    data: Any
    lengths: tuple[tuple[str, int], ...]
    source: str
    row_map: RowMap

    @classmethod
    def of(cls, runs: Sequence[RowsRun]) -> RowsChunk:
        """The runs, which are of one table."""
        pa = arrow_library()
        table = pa.Table.from_batches(piece for run in runs for piece in run.pieces)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return cls(
            data=sink.getvalue(),
            lengths=tuple((run.run_id, run.num_rows) for run in runs),
            source=runs[0].source,
            row_map=runs[0].row_map,
        )

    def runs(self) -> Iterator[ArchivedRun]:
        """Returns the runs, one after the other."""
        table = arrow_library().ipc.open_stream(self.data).read_all()
        start = 0
        for run_id, length in self.lengths:
            pieces = table.slice(start, length).to_batches()
            yield RowsRun(run_id=run_id, source=self.source, pieces=pieces, row_map=self.row_map)
            start += length


def plain_rows(pieces: Iterable[RowPiece]) -> Iterator[dict[str, Any]]:
    """Rows as plain data, as JSON would give it; times are seconds since 1970, without a zone in UTC."""
    for piece in pieces:
        if isinstance(piece, PackedRows):
            yield from map(plain_row, piece.mappings())
        else:
            yield from _arrow_rows(piece)


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """One row as plain data, as `plain_rows` gives it."""
    return {key: _plain(value) for key, value in row.items()}


def _arrow_rows(batch: Any) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    for start in range(0, batch.num_rows, _PLAIN_ROWS):
        columns = map(_plain_column, batch.slice(start, _PLAIN_ROWS).columns)
        for cells in zip(*columns, strict=True):
            yield dict(zip(names, cells, strict=True))


def _plain_column(column: pa.Array) -> list[Any]:
    pa = arrow_library()
    kind = column.type
    if pa.types.is_timestamp(kind):
        # Python's times have no nanoseconds.
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    elif kind in (pa.string(), pa.large_string(), pa.int64(), pa.float64(), pa.bool_()):
        return list(column.to_pylist())
    return [_plain(value) for value in column.to_pylist()]


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is str or kind is int or kind is float or kind is bool or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        if value and all(isinstance(item, tuple) and len(item) == 2 for item in value):
            return {str(key): _plain(item) for key, item in value}  # a map of Arrow
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode(errors="replace")
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else _number(value)


def _number(value: Any) -> Any:
    """A number of another library as one of Python's; anything else as a text."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


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
