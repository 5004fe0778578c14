"""Runs in, rows out: what every engine calls, whatever splits and orders the runs.

Nothing here has a clock or remembers anything between runs, so a run comes to the same row anywhere.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from ebbtide.batch.results.archived_run import ArchivedRun, EventsRun
from ebbtide.batch.results.run_result import ResultStatus, RunResult, refusal, result_batch, result_of
from ebbtide.events.event import Event
from ebbtide.events.transcript import Round
from ebbtide.supervision.run_options import DEFAULTS, RunOptions
from ebbtide.text.redaction import redact

if TYPE_CHECKING:
    import pyarrow as pa


Answer = TypeVar("Answer")

_ROWS = 64  # of a batch: enough for Arrow, and few to lose


def check_run(
    run: ArchivedRun, options: RunOptions = DEFAULTS, *, most_seconds: float | None = None
) -> RunResult:
    """Checks a run, and returns its row, or that of a run that could not be checked.

    Args:
        most_seconds: How long it may take; None does not bound it.
    """

    def judge(run: ArchivedRun) -> RunResult:
        return result_of(run.run_id, run.summary(options))

    return guarded(run, judge, redacts=options.redact, most_seconds=most_seconds)


def guarded(
    run: ArchivedRun, judge: Callable[[ArchivedRun], Answer], *, redacts: bool, most_seconds: float | None
) -> Answer | RunResult:
    """Applies a function to a run, and returns its answer, or the row of a run that could not be checked.

    Args:
        redacts: Whether keys and passwords are masked in what is said of an error.
        most_seconds: How long it may take; None does not bound it.
    """
    try:
        with time_bound(most_seconds):
            return judge(run)
    except OutOfTime as error:
        reason = TimeoutError(str(error))
        return refusal(run.run_id, run.source, reason, status=ResultStatus.OUT_OF_TIME)
    except Exception as error:  # noqa: BLE001 - one run, or a fault in one reader, must not hide the others
        result = refusal(run.run_id, run.source, error)
        # It may quote what could not be read.
        return replace(result, error=redact(result.error or "")) if redacts else result


def check_events(
    events: Iterable[Event | Round],
    options: RunOptions = DEFAULTS,
    *,
    run_id: str,
    source: str = "<events>",
    most_seconds: float | None = None,
) -> RunResult:
    """Checks the run whose events are at hand, and returns its row.

    Args:
        source: The table that they come from.

    >>> from ebbtide.events.event import ToolCall
    >>> row = check_events([ToolCall(name="ls", args={}, result="a.txt")] * 6, run_id="run 7")
    >>> row.run_id, row.status.value, row.headline, row.action, row.findings[0].kind
    ('run 7', 'checked', 'STUCK', 'stop', 'repeat')
    """
    run = EventsRun(run_id=run_id, source=source, events=events)
    return check_run(run, options, most_seconds=most_seconds)


def check_partition(
    runs: Iterable[ArchivedRun],
    options: RunOptions = DEFAULTS,
    *,
    most_seconds: float | None = None,
    rows: int = _ROWS,
) -> Iterator[pa.RecordBatch]:
    """Checks runs, and yields their rows in batches of Arrow; one run is in memory at a time.

    It is what Spark's ``mapInArrow`` calls for each partition, and what a process of the pool calls.

    Args:
        runs: In any order.
        most_seconds: How long one may take; None does not bound it.
        rows: Most rows of a batch.

    Yields:
        Batches in the columns of `result_schema`, a row a run, in the order of the runs.

    Raises:
        ConfigError: The package pyarrow is not installed.
    """
    results = (check_run(run, options, most_seconds=most_seconds) for run in runs)
    while batch := list(islice(results, rows)):
        yield result_batch(batch)


class OutOfTime(BaseException):
    """The time is over. It is no `Exception`, since watching goes on after those.

    Args:
        seconds: How long it might have taken.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"it took longer than {seconds:g} s")


@contextmanager
def time_bound(seconds: float | None) -> Iterator[None]:
    """Give up what is done in the block when its time is over.

    It is done with the alarm of the process, so it holds in a main thread and where there are such alarms:
    not on Windows. Elsewhere nothing is bounded.

    Args:
        seconds: How long it may take; None does not bound it.

    Raises:
        OutOfTime: It took longer.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if seconds is None or not in_main or not hasattr(signal, "setitimer"):
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTime(seconds)

    handler = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
