"""A run whose events lie in the rows of a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.batch.archived_run import ArchivedRun
from ebbtide.batch.arrow_types import arrow_library
from ebbtide.batch.row_map import RowMap
from ebbtide.checking import check_trace
from ebbtide.errors import TranscriptError
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.traces.record_trace import trace_of_records

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRun:
    """A run in rows.

    Args:
        run_id: The run; None where the rows do not say.
        source: The table.
        rows: They, in order: a table of Arrow, or one mapping a row.
        row_map: What their columns are.
    """

    run_id: str | None
    source: str
    rows: Any
    row_map: RowMap

    def summary(self, options: RunOptions) -> RunSummary:
        """As `ArchivedRun.summary`."""
        if self.run_id is None:
            raise TranscriptError(f"{len(self.rows):,} rows name no run", path=self.row_map.run)
        rows = list(plain_rows(self.rows))
        records = map(self.row_map.record_of, rows)
        summary = check_trace(
            trace_of_records(records, source=self.source, form=self.row_map.format), options
        )
        unordered = sum(row.get(self.row_map.order) is None for row in rows)
        if not unordered:
            return summary
        fault = f"{unordered:,} of {len(rows):,} rows have no {self.row_map.order}: they come last"
        return dataclasses.replace(
            summary, faults=(fault, *summary.faults), degraded=summary.degraded + unordered
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsChunk:
    """Some runs in rows, in a form that is sent to another process quickly.

    Args:
        data: Their rows, one run behind the other, as a stream of Arrow.
        lengths: Each run and its number of rows.
        source: The table.
        row_map: What the columns are.
    """

    data: Any
    lengths: tuple[tuple[str | None, int], ...]
    source: str
    row_map: RowMap

    @classmethod
    def of(
        cls, batches: Iterable[Any], lengths: Iterable[tuple[str | None, int]], source: str, row_map: RowMap
    ) -> RowsChunk:
        """The runs in batches of Arrow."""
        pa = arrow_library()
        table = pa.Table.from_batches(batches)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return cls(data=sink.getvalue().to_pybytes(), lengths=tuple(lengths), source=source, row_map=row_map)

    def runs(self) -> Iterator[ArchivedRun]:
        """As `Chunk.runs`."""
        table = arrow_library().ipc.open_stream(self.data).read_all()
        start = 0
        for run_id, length in self.lengths:
            rows = table.slice(start, length)
            yield RowsRun(run_id=run_id, source=self.source, rows=rows, row_map=self.row_map)
            start += length


def plain_rows(rows: Any) -> Iterator[dict[str, Any]]:
    """Rows as plain data, as JSON would give it; times are seconds since 1970, without a zone in UTC.

    Args:
        rows: A table of Arrow, or one mapping a row.
    """
    if not hasattr(rows, "column_names"):
        for row in rows:
            yield {key: _plain(value) for key, value in row.items()}
        return
    columns = [_plain_column(column) for column in rows.columns]
    names = rows.column_names
    for cells in zip(*columns, strict=True):
        yield dict(zip(names, cells, strict=True))


def _plain_column(column: pa.ChunkedArray) -> list[Any]:
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
