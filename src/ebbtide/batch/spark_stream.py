"""Live runs on Spark's streams: rows of events in, changes of verdicts out, a few KB of state a run.

Spark keeps the state (in RocksDB, with a checkpoint), knows which rows it took, and goes on where it was
killed; what follows from an event is `advance`, as everywhere. Several runs share a key of its state: see
`run_bucket`. An event that comes twice counts once, and one that comes late counts when it comes, as long as
events are numbered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ebbtide.batch.row_map import RowMap
from ebbtide.batch.rows_run import plain_row
from ebbtide.batch.run_bucket import RunBucket, StreamedRun
from ebbtide.batch.spark import bare_columns, struct_of
from ebbtide.batch.verdict_changes import VerdictChange, advance, change_schema, remark
from ebbtide.codec import to_wire
from ebbtide.errors import ConfigError, TranscriptError, error_text
from ebbtide.events.event import Event
from ebbtide.events.event_json import read_event
from ebbtide.supervision.run_options import RunOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming import StatefulProcessorHandle

_DEFAULTS: Final = RunOptions()
_BY_NAME: Final = RowMap()
_DAY_S: Final = 86_400.0
_STATE: Final = "runs binary"
_BUCKETS: Final = 4_096
_UNREADABLE: Final = "unreadable"
_SILENT: Final = "silent"


def verdict_changes(
    events: DataFrame,
    options: RunOptions = _DEFAULTS,
    *,
    row_map: RowMap | str = _BY_NAME,
    run: str | None = None,
    order: str | None = None,
    silent_after_s: float | None = None,
    forget_after_s: float = 7 * _DAY_S,
    buckets: int = _BUCKETS,
) -> DataFrame:
    """The changes of the verdicts of live runs.

    Beside those of `advance` there are two kinds of remarks, whose cause is ``stream``: ``silent``, and
    ``unreadable`` for a row that is no event, or has no run. A row that cannot be read stops nothing.

    Args:
        events: A stream of rows, an event each, in the plain form of events once the map is applied; rows of
            one run that come at once are taken in their order.
        options: By what runs are judged.
        row_map: As for `ebbtide.batch.spark.check_rows`.
        run: Likewise.
        order: Likewise.
        silent_after_s: Tell once when nothing was heard of a run for so long by the clock of Spark; None
            tells nothing.
        forget_after_s: The state of a run of which nothing was heard for so long is removed; an event that
            comes later begins a new run.
        buckets: Keys over which the runs are spread, 1 or more: a tenth of the live runs is a good number.
            With few, a batch is quick, and writes the states of many runs that had no events. The same as
            long as the checkpoint is.

    Returns:
        The columns of `change_schema`, to be written in the mode ``append``.

    Raises:
        ConfigError: There is no such map, or no column of such a name, or the map is of another format.
    """
    from pyspark.sql.functions import lit, pmod, xxhash64

    if buckets < 1:
        raise ConfigError(f"buckets={buckets}: expected 1 or more")
    named_map = (RowMap.load(row_map) if isinstance(row_map, str) else row_map).by(run, order)
    if named_map.format not in {None, "ebbtide"}:
        raise ConfigError(
            f"a stream takes events in the plain form, format 'ebbtide': this map is of {named_map.format!r}"
        )
    bare, names = bare_columns(events, named_map, "events")
    watch = SparkRunProcessor(
        options=options,
        row_map=named_map,
        names=names,
        silent_ms=None if silent_after_s is None else math.ceil(silent_after_s * 1_000),
        forget_ms=math.ceil(forget_after_s * 1_000),
    )
    run_id = bare[f"c{names.index(named_map.run)}"].cast("string").alias("run_id")
    bucket = pmod(xxhash64(run_id), lit(buckets)).alias("bucket")
    runs = bare.select("*", run_id, bucket).groupBy("bucket")
    # Only the mode of processing time lets Spark forget.
    return runs.transformWithState(watch, struct_of(change_schema()), "Append", "ProcessingTime")


@dataclass(slots=True, kw_only=True)
class SparkRunProcessor:
    """What Spark calls with the new rows of each bucket: a ``StatefulProcessor``, whose names it has.

    Args:
        options: By what runs are judged.
        row_map: What the columns are.
        names: Their names.
        silent_ms: Milliseconds after which a run is silent; None never.
        forget_ms: Milliseconds after which it is forgotten.
    """

    options: RunOptions
    row_map: RowMap
    names: Sequence[str]
    silent_ms: int | None
    forget_ms: int
    _handle: Any = field(default=None, init=False)
    _value: Any = field(default=None, init=False)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Say what is kept of a bucket."""
        self._handle = handle
        self._value = handle.getValueState("runs", _STATE, self.forget_ms)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Take the new rows of a bucket."""
        now_ms = timerValues.getCurrentProcessingTimeInMs()
        bucket = self._bucket()
        bucket.forget(now_ms - self.forget_ms)
        changes: list[VerdictChange] = []
        for run_id, run_rows in _by_run(rows).items():
            if run_id is None:
                what = self.row_map.nameless(len(run_rows))
                changes.append(remark(None, self.options, run_id=None, kind=_UNREADABLE, reason=what))
            else:
                changes += self._advance(bucket, run_id, run_rows, now_ms)
        self._keep(bucket, now_ms)
        return map(_row, changes)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Say of which runs nothing is heard."""
        bucket = self._bucket()
        bucket.timer_ms = None
        if self.silent_ms is None:
            return iter(())
        now_ms = timerValues.getCurrentProcessingTimeInMs()
        what = f"nothing was heard of it for {self.silent_ms / 1_000:g} s"
        remarks = [
            remark(run.state, self.options, run_id=run_id, kind=_SILENT, reason=what)
            for run_id, run in bucket.silent(now_ms - self.silent_ms)
        ]
        self._keep(bucket, now_ms)
        return map(_row, remarks)

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:  # noqa: N802, N803
        """Nothing: runs begin with their first event."""

    def close(self) -> None:
        """Nothing is open."""

    def _bucket(self) -> RunBucket:
        (data,) = self._value.get() or (None,)
        return RunBucket() if data is None else RunBucket.from_bytes(data)

    def _keep(self, bucket: RunBucket, now_ms: int) -> None:
        heard_ms = bucket.first_heard_ms()
        if self.silent_ms is not None and bucket.timer_ms is None and heard_ms is not None:
            bucket.timer_ms = max(heard_ms + self.silent_ms, now_ms + 1)
            self._handle.registerTimer(bucket.timer_ms)
        if bucket.runs:
            self._value.update((bucket.to_bytes(),))
        else:
            self._value.clear()

    def _advance(
        self, bucket: RunBucket, run_id: str, rows: Iterable[Row], now_ms: int
    ) -> Iterator[VerdictChange]:
        run = bucket.runs.get(run_id)
        state = run.state if run else None
        faults: list[str] = []
        events = list(self._events(rows, faults))
        try:
            state, changes = advance(state, events, self.options, run_id=run_id)
        except Exception as error:  # noqa: BLE001 - one run must not stop all others
            faults.append(error_text(error))
            state = None
        else:
            bucket.runs[run_id] = StreamedRun(state=state, heard_ms=now_ms)
            yield from changes
        for fault in faults:
            yield remark(state, self.options, run_id=run_id, kind=_UNREADABLE, reason=fault)

    def _events(self, rows: Iterable[Row], faults: list[str]) -> Iterator[Event]:
        order = self.row_map.order
        cells = (dict(zip(self.names, row.asDict(recursive=True).values(), strict=False)) for row in rows)
        in_order = sorted(
            map(plain_row, cells),
            key=lambda row: (row[order] is None, 0 if row[order] is None else row[order]),
        )
        for row in in_order:
            try:
                yield read_event(self.row_map.record_of(row))
            except TranscriptError as error:
                faults.append(f"{order} {row[order]}: {error.what}")


def _by_run(rows: Iterable[Row]) -> dict[str | None, list[Row]]:
    runs: dict[str | None, list[Row]] = {}
    for row in rows:
        runs.setdefault(row["run_id"], []).append(row)
    return runs


def _row(change: VerdictChange) -> Row:
    from pyspark.sql import Row

    return Row(**to_wire(change))
