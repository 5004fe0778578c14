"""Live runs on Spark's streams: rows of events in, changes of verdicts out, a few KB of state a run.

Spark keeps the state (in RocksDB, with a checkpoint), knows which rows it took, and goes on where it was
killed; what follows from an event is `advance`, as everywhere. Several runs share a key of its state: see
`run_bucket`. An event that comes twice counts once, and one that comes late counts when it comes, as long as
events are numbered.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final, Self

from ebbtide.batch.spark.spark_archive import bare_columns, struct_of
from ebbtide.batch.spark.verdict_changes import VerdictChange, advance, change_schema, remark
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.rows_run import plain_row
from ebbtide.checks import whole
from ebbtide.codec import to_wire
from ebbtide.errors import ConfigError, TranscriptError, error_text
from ebbtide.events.event import Event
from ebbtide.events.event_json import read_event
from ebbtide.supervision.run_options import DEFAULTS, RunOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming import StatefulProcessorHandle


_BY_NAME: Final = RowMap()
_DAY_S: Final = 86_400.0
_STATE: Final = "runs binary"
_BUCKETS: Final = 4_096
_UNREADABLE: Final = "unreadable"
_SILENT: Final = "silent"


def verdict_changes(
    events: DataFrame,
    options: RunOptions = DEFAULTS,
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
        row_map: As for `ebbtide.batch.spark.spark_archive.check_rows`.
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

    whole("buckets", buckets, 1)
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
    """The ``StatefulProcessor`` that Spark calls with the new rows of each bucket, with its method names.

    Args:
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


_HEAD = 4  # bytes of the length of the head


@dataclass(slots=True, kw_only=True)
class StreamedRun:
    """The part of a run that is kept between two batches.

    Args:
        state: What `advance` returned.
        heard_ms: When its latest rows came, by the clock of the engine.
        is_silent: Whether it was reported as silent.
    """

    state: bytes
    heard_ms: int
    is_silent: bool = False


@dataclass(slots=True, kw_only=True)
class RunBucket:
    """The live runs that share a key.

    Args:
        runs: By their ids.
        timer_ms: When the engine will ask whether one is silent; None where it will not.
    """

    runs: dict[str, StreamedRun] = field(default_factory=dict)
    timer_ms: int | None = None

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The bucket that `to_bytes` described."""
        start = _HEAD + int.from_bytes(data[:_HEAD], "big")
        timer_ms, heads = json.loads(data[_HEAD:start])
        ends = accumulate((length for *_, length in heads), initial=start)
        runs = {
            run_id: StreamedRun(state=data[begin:end], heard_ms=heard_ms, is_silent=is_silent)
            for (run_id, heard_ms, is_silent, _), (begin, end) in zip(heads, pairwise(ends), strict=True)
        }
        return cls(runs=runs, timer_ms=timer_ms)

    def to_bytes(self) -> bytes:
        """A head in JSON, and the states one behind the other."""
        heads = [(run_id, run.heard_ms, run.is_silent, len(run.state)) for run_id, run in self.runs.items()]
        head = json.dumps((self.timer_ms, heads), separators=(",", ":")).encode()
        states = (run.state for run in self.runs.values())
        return b"".join((len(head).to_bytes(_HEAD, "big"), head, *states))

    def forget(self, before_ms: int) -> None:
        """Forget the runs of which nothing was heard since."""
        for run_id in [run_id for run_id, run in self.runs.items() if run.heard_ms < before_ms]:
            del self.runs[run_id]

    def silent(self, before_ms: int) -> Iterator[tuple[str, StreamedRun]]:
        """The runs of which nothing was heard since, each once."""
        for run_id, run in self.runs.items():
            if not run.is_silent and run.heard_ms <= before_ms:
                run.is_silent = True
                yield run_id, run

    def first_heard_ms(self) -> int | None:
        """Returns the time when the run was heard that will be silent next; None if no run will."""
        return min((run.heard_ms for run in self.runs.values() if not run.is_silent), default=None)
