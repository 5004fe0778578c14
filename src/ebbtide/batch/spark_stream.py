"""Live runs on Spark's streams: rows of events in, changes of verdicts out, a few KB of state a run.

Spark keeps the state (in RocksDB, with a checkpoint), knows which rows it took, and goes on where it was
killed; what follows from an event is `advance`, as everywhere. An event that comes twice counts once, and one
that comes late counts when it comes, as long as events are numbered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ebbtide.batch.row_map import RowMap
from ebbtide.batch.rows_run import plain_row
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
_STATE: Final = "state binary, heard_ms bigint, is_timed boolean"
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

    Returns:
        The columns of `change_schema`, to be written in the mode ``append``.

    Raises:
        ConfigError: There is no such map, or no column of such a name, or the map is of another format.
    """
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
    runs = bare.select("*", run_id).groupBy("run_id")
    # Only the mode of processing time lets Spark forget.
    return runs.transformWithState(watch, struct_of(change_schema()), "Append", "ProcessingTime")


@dataclass(slots=True, kw_only=True)
class SparkRunProcessor:
    """What Spark calls with the new rows of each run: a ``StatefulProcessor``, whose names it has.

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
        """Say what is kept of a run."""
        self._handle = handle
        self._value = handle.getValueState("run", _STATE, self.forget_ms)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Take the new rows of a run."""
        (run_id,) = key
        if run_id is None:
            count = sum(1 for _ in rows)
            what = f"{count:,} rows have no {self.row_map.run}, so nobody knows their runs"
            yield _row(remark(None, self.options, run_id=None, kind=_UNREADABLE, reason=what))
            return
        state, _, is_timed = self._value.get() or (None, 0, False)
        faults: list[str] = []
        events = list(self._events(rows, faults))
        try:
            state, changes = advance(state, events, self.options, run_id=run_id)
        except Exception as error:  # noqa: BLE001 - one run must not stop all others
            faults.append(error_text(error))
            state, changes = None, []
        now_ms = timerValues.getCurrentProcessingTimeInMs()
        if self.silent_ms is not None and not is_timed:
            self._handle.registerTimer(now_ms + self.silent_ms)
            is_timed = True
        if state is not None:
            self._value.update((state, now_ms, is_timed))
        yield from map(_row, changes)
        for fault in faults:
            yield _row(remark(state, self.options, run_id=run_id, kind=_UNREADABLE, reason=fault))

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Say that nothing is heard of a run, or wait for longer where something was."""
        value = self._value.get()
        if value is None or self.silent_ms is None:
            return
        state, heard_ms, _ = value
        due_ms = heard_ms + self.silent_ms
        if due_ms > timerValues.getCurrentProcessingTimeInMs():
            self._handle.registerTimer(due_ms)
            return
        self._value.update((state, heard_ms, False))
        what = f"nothing was heard of it for {self.silent_ms / 1_000:g} s"
        yield _row(remark(state, self.options, run_id=key[0], kind=_SILENT, reason=what))

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:  # noqa: N802, N803
        """Nothing: runs begin with their first event."""

    def close(self) -> None:
        """Nothing is open."""

    def _events(self, rows: Iterator[Row], faults: list[str]) -> Iterator[Event]:
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


def _row(change: VerdictChange) -> Row:
    from pyspark.sql import Row

    return Row(**to_wire(change))
