"""Runs that are checked in a process of their own each, so that one that ends its process ends nothing else.

An engine tries again what has failed. Where a run takes so much memory that the system ends the process, each
try would end the same way, and the whole work with it; so the second try is made like this.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from ebbtide.batch.archived_run import ArchivedRun
from ebbtide.batch.arrow_types import arrow_library
from ebbtide.batch.checking_runs import check_partition, check_run
from ebbtide.batch.run_result import refusal, result_batch, result_schema
from ebbtide.errors import TranscriptError
from ebbtide.supervision.run_options import RunOptions

if TYPE_CHECKING:
    import pyarrow as pa

_DEFAULTS: Final = RunOptions()
_LOST: Final = "the process that checked it has ended, perhaps for want of memory"


def check_separately(
    runs: Iterable[ArchivedRun], options: RunOptions = _DEFAULTS, *, most_seconds: float | None = None
) -> Iterator[pa.RecordBatch]:
    """As `check_partition`, with a batch and a process for each run; a run whose process ends is refused.

    It costs some milliseconds a run. Where processes cannot be forked, such as on Windows, it is
    `check_partition`.

    Args:
        runs: As for `check_partition`.
        options: As for `check_partition`.
        most_seconds: As for `check_partition`.
    """
    if not hasattr(os, "fork"):
        yield from check_partition(runs, options, most_seconds=most_seconds)
        return
    for run in runs:
        yield _check_in_child(run, options, most_seconds)


def _check_in_child(run: ArchivedRun, options: RunOptions, most_seconds: float | None) -> pa.RecordBatch:
    pa = arrow_library()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            batch = result_batch([check_run(run, options, most_seconds=most_seconds)])
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(batch.serialize())
        finally:
            os._exit(0)  # what the parent has open stays as it is
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    os.waitpid(child, 0)
    try:
        return pa.ipc.read_record_batch(pa.py_buffer(content), result_schema())
    except (pa.ArrowException, OSError, EOFError):
        return result_batch([refusal(run.run_id, run.source, TranscriptError(_LOST, source=run.source))])
