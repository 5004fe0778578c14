"""Runs that lie in a table: a row an event or a span, and the rows of a run one behind the other.

The rows come in batches of Arrow, as every engine gives them. Those of one run are held as they are, some
bytes a value, and become records one batch after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from ebbtide.checking import check_trace
from ebbtide.errors import TranscriptError
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.traces.reading import Trace

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]
#: What a row says, as a record of any format that a file of JSON lines could hold: a mapping, or its JSON.
RecordOf = Callable[[Row], object]

_encode = msgspec.json.Encoder(decimal_format="number").encode


def columns_as_record(row: Row) -> object:
    """The columns that say something, by their names: a table in the plain form of events, for example.

    >>> columns_as_record({"kind": "tool", "name": "ls", "text": None})
    {'kind': 'tool', 'name': 'ls'}
    """
    return {name: value for name, value in row.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRun:
    """A run in the rows of a table. It is read as a file would be with a line for each row.

    Args:
        run_id: The run; None where the column is empty.
        source: The table.
        batches: Its rows, in order.
        order: Columns that say their order. A run with more than one row needs all of them in each.
        record_of: What a row says.
    """

    run_id: str | None
    source: str
    batches: Sequence[pa.RecordBatch]
    order: tuple[str, ...] = ()
    record_of: RecordOf = columns_as_record

    def summary(self, options: RunOptions) -> RunSummary:
        """As `ArchivedRun.summary`."""
        if self.run_id is None:
            raise TranscriptError("the run has no id", source=self.source)
        self._refuse_unordered()
        return check_trace(Trace.of(self._lines(), source=self.source), options)

    def _refuse_unordered(self) -> None:
        if sum(batch.num_rows for batch in self.batches) == 1:
            return
        for name in self.order:
            count = sum(batch.column(name).null_count for batch in self.batches)
            if count:
                what = f"the order of the rows is not known: {count} without a value in the column {name!r}"
                raise TranscriptError(what, source=self.source)

    def _lines(self) -> Iterator[bytes]:
        for batch in self.batches:
            for row in batch.to_pylist():
                record = self.record_of(row)
                if isinstance(record, str | bytes):
                    line = record.encode() if isinstance(record, str) else record
                    yield line.replace(b"\n", b" ") + b"\n"
                else:
                    yield _encode(record) + b"\n"


def runs_of(
    batches: Iterable[pa.RecordBatch],
    run: str,
    *,
    source: str,
    order: Sequence[str] = (),
    record_of: RecordOf = columns_as_record,
) -> Iterator[TableRun]:
    """The runs of a table whose rows are sorted by run; one run is in memory at a time.

    Args:
        batches: All rows.
        run: The column that says which run a row belongs to; an id that is no text becomes one.
        source: The table.
        order: As for `TableRun`.
        record_of: As for `TableRun`.
    """
    from pyarrow.compute import run_end_encode

    current: object = None
    pieces: list[pa.RecordBatch] = []

    def ended() -> TableRun:
        run_id = None if current is None else str(current)
        return TableRun(
            run_id=run_id, source=source, batches=tuple(pieces), order=tuple(order), record_of=record_of
        )

    for batch in batches:
        stretches = run_end_encode(batch.column(run))
        start = 0
        for value, end in zip(stretches.values.to_pylist(), stretches.run_ends.to_pylist(), strict=True):
            if pieces and value != current:
                yield ended()
                pieces.clear()
            current = value
            pieces.append(batch.slice(start, end - start))
            start = end
    if pieces:
        yield ended()
