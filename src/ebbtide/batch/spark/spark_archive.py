"""Archives on Spark: runs in files or in the rows of a table, checked by all executors.

Spark splits the work, ships it and tries again; how a run is checked is `check_partition`, as everywhere. A
task that is tried again checks its runs in a process each, so that one that ends its executor ends no more.
Python on the executors needs ebbtide with the extra ``spark``.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ebbtide.batch.archive.archive_files import files_at
from ebbtide.batch.archive.checking_runs import check_partition, check_run
from ebbtide.batch.results.archived_run import ArchivedRun, FileRun, RefusedRun
from ebbtide.batch.results.arrow_types import arrow_library
from ebbtide.batch.results.run_result import refusal, result_batch, result_schema
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.rows_run import runs_in
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.supervision.run_options import DEFAULTS, RunOptions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


_BY_NAME: Final = RowMap()
_Batches = Iterator["pa.RecordBatch"]


def check_files(
    spark: SparkSession,
    names: Sequence[str],
    options: RunOptions = DEFAULTS,
    *,
    most_seconds: float | None = None,
    tasks: int | None = None,
) -> DataFrame:
    """Checks the runs in files, and returns a row for each.

    The files are listed here and read by the executors, so their names have to mean the same there: URLs, or
    paths of a file system that all share. Large files come first and are dealt out, so that none is left to
    the end.

    Args:
        spark: The session.
        names: As for `ebbtide.batch.archive.archive_files.files_at`.
        most_seconds: How long a run may take; None does not bound it.
        tasks: Parts into which the work is split; None takes ``spark.sql.shuffle.partitions``.

    Returns:
        The columns of `result_schema`.

    Raises:
        EbbtideError: There is nothing behind a name, or it cannot be looked at.
        ConfigError: A package is missing.
    """
    pa = arrow_library()
    files = sorted(files_at(names), key=lambda file: -file.size)
    count = max(1, min(len(files), tasks or _usual_tasks(spark)))
    rows = [{"task": number % count, **dataclasses.asdict(file.run)} for number, file in enumerate(files)]
    kinds = {"task": pa.int32(), "source": pa.string(), "is_named": pa.bool_(), "what": pa.string()}
    table = pa.Table.from_pylist(rows, pa.schema({**kinds, "no_trace": pa.bool_()}))
    deals = spark.createDataFrame(table).repartitionById(count, "task")
    check = partial(_checked_files, options=options, most_seconds=most_seconds)
    return deals.mapInArrow(check, struct_of(result_schema()))


def check_rows(
    rows: DataFrame,
    options: RunOptions = DEFAULTS,
    *,
    row_map: RowMap | str = _BY_NAME,
    run: str | None = None,
    order: str | None = None,
    source: str = "rows",
    most_seconds: float | None = None,
    tasks: int | None = None,
) -> DataFrame:
    """Checks the runs in the rows of a table, and returns a row for each: a row is an event or a span.

    The rows are shuffled so that those of a run meet, and sorted by Spark, which writes to its disks what
    does not fit into memory. Python holds one run at a time, and a long run holds up its task alone.

    Args:
        row_map: What the columns are, or the name of a map as for `RowMap.load`. By default they are what
            their names say.
        run: The column that names the run, in place of that of the map.
        order: The column by which the rows of a run are ordered, in place of that of the map. Rows that are
            equal in it come in any order; those without one come last, and are reported.
        source: What the results call the table.
        most_seconds: How long a run may take; None does not bound it.
        tasks: Parts into which the work is split; None takes ``spark.sql.shuffle.partitions``.

    Returns:
        The columns of `result_schema`.

    Raises:
        ConfigError: There is no such map, or no column of such a name.
    """
    named_map = (RowMap.load(row_map) if isinstance(row_map, str) else row_map).by(run, order)
    bare, names = bare_columns(rows, named_map, source)
    run_column, order_column = (bare[f"c{names.index(name)}"] for name in (named_map.run, named_map.order))
    together = bare.repartition(tasks or _usual_tasks(rows.sparkSession), run_column)
    in_order = together.sortWithinPartitions(run_column, order_column.asc_nulls_last())
    check = partial(
        _checked_rows,
        options=options,
        names=names,
        row_map=named_map,
        source=source,
        most_seconds=most_seconds,
    )
    return in_order.mapInArrow(check, struct_of(result_schema()))


def bare_columns(rows: DataFrame, row_map: RowMap, source: str) -> tuple[DataFrame, list[str]]:
    """The columns that a map reads, under other names: Spark hands over none with a dot in its name.

    Args:
        source: What messages call the table.

    Returns:
        The table with the columns ``c0``, ``c1``, ...; and their own names.

    Raises:
        ConfigError: The column of the run or of the order is not there.
    """
    from pyspark.sql.functions import col

    names = [name for name in rows.columns if row_map.columns is None or name in row_map.columns]
    for name in (row_map.run, row_map.order):
        if name not in names:
            raise ConfigError(f"{source}: there is no column {name!r}. It has: {', '.join(rows.columns)}")
    quoted = ("`" + name.replace("`", "``") + "`" for name in names)
    return rows.select(*(col(name).alias(f"c{number}") for number, name in enumerate(quoted))), names


def struct_of(schema: pa.Schema) -> StructType:
    """A schema of Arrow as one of Spark."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _checked_files(
    batches: _Batches, *, options: RunOptions, most_seconds: float | None
) -> Iterator[pa.RecordBatch]:
    runs = (_file_run(row) for batch in batches for row in batch.to_pylist())
    return _checked(runs, options, most_seconds)


def _file_run(row: dict[str, Any]) -> ArchivedRun:
    if row["what"] is None:
        return FileRun(row["source"], is_named=row["is_named"])
    return RefusedRun(row["source"], row["what"], no_trace=row["no_trace"])


def _checked_rows(
    batches: _Batches,
    *,
    options: RunOptions,
    names: Sequence[str],
    row_map: RowMap,
    source: str,
    most_seconds: float | None,
) -> Iterator[pa.RecordBatch]:
    named_batches = (batch.rename_columns(names) for batch in batches)
    return _checked(runs_in(named_batches, row_map, source=source), options, most_seconds)


def _checked(
    runs: Iterator[ArchivedRun], options: RunOptions, most_seconds: float | None
) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    task = TaskContext.get()
    is_retry = task is not None and task.attemptNumber() > 0
    return (check_separately if is_retry else check_partition)(runs, options, most_seconds=most_seconds)


def _usual_tasks(spark: SparkSession) -> int:
    return int(str(spark.conf.get("spark.sql.shuffle.partitions")))


_LOST: Final = "the process that checked it has ended, perhaps for want of memory"


def check_separately(
    runs: Iterable[ArchivedRun], options: RunOptions = DEFAULTS, *, most_seconds: float | None = None
) -> Iterator[pa.RecordBatch]:
    """Checks a partition as `check_partition` does, with a batch and a process for each run.

    A run whose process ends is refused.

    It costs some milliseconds a run. Where processes cannot be forked, such as on Windows, it is
    `check_partition`.
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
