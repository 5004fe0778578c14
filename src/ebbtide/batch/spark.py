"""Archives on Spark: runs in files or in the rows of a table, checked by all executors.

Spark splits the work, ships it and tries again; how a run is checked is `check_partition`, as everywhere. A
task that is tried again checks its runs in a process each, so that one that ends its executor ends no more.
Python on the executors needs ebbtide with the extra ``spark``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ebbtide.batch.archive_files import files_at
from ebbtide.batch.archived_run import ArchivedRun, FileRun, RefusedRun
from ebbtide.batch.arrow_types import arrow_library
from ebbtide.batch.checking_runs import check_partition
from ebbtide.batch.run_result import result_schema
from ebbtide.batch.separate_checks import check_separately
from ebbtide.batch.table_runs import RecordOf, columns_as_record, runs_of
from ebbtide.supervision.run_options import RunOptions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_DEFAULTS: Final = RunOptions()
_Batches = Iterator["pa.RecordBatch"]


def check_files(
    spark: SparkSession,
    names: Sequence[str],
    options: RunOptions = _DEFAULTS,
    *,
    most_seconds: float | None = None,
    tasks: int | None = None,
) -> DataFrame:
    """What the runs in files came to, a row each.

    The files are listed here and read by the executors, so their names have to mean the same there: URLs, or
    paths of a file system that all share. Large files come first and are dealt out, so that none is left to
    the end.

    Args:
        spark: The session.
        names: As for `ebbtide.batch.archive_files.files_at`.
        options: By what runs are judged.
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
    return deals.mapInArrow(check, _struct(result_schema()))


def check_rows(
    rows: DataFrame,
    options: RunOptions = _DEFAULTS,
    *,
    run: str,
    order: str | Sequence[str],
    record_of: RecordOf = columns_as_record,
    source: str = "rows",
    most_seconds: float | None = None,
    tasks: int | None = None,
) -> DataFrame:
    """What the runs in the rows of a table came to, a row each: a row is an event or a span.

    The rows are shuffled so that those of a run meet, and sorted by Spark, which writes to its disks what
    does not fit into memory. Python holds one run at a time, so a run of any length holds up its task alone.

    Args:
        rows: The table.
        options: By what runs are judged.
        run: The column that says which run a row belongs to.
        order: The columns that say which row of a run comes first. Rows that are equal in all of them come
            in any order.
        record_of: What a row says, as a record of a format that `ebbtide formats` lists; it is sent to the
            executors. By default the row is one, with its columns as keys.
        source: What results call the table.
        most_seconds: How long a run may take; None does not bound it.
        tasks: Parts into which the work is split; None takes ``spark.sql.shuffle.partitions``.

    Returns:
        The columns of `result_schema`.
    """
    keys = (order,) if isinstance(order, str) else tuple(order)
    count = tasks or _usual_tasks(rows.sparkSession)
    check = partial(
        _checked_rows,
        options=options,
        run=run,
        order=keys,
        record_of=record_of,
        source=source,
        most_seconds=most_seconds,
    )
    together = rows.repartition(count, run).sortWithinPartitions(run, *keys)
    return together.mapInArrow(check, _struct(result_schema()))


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
    run: str,
    order: tuple[str, ...],
    record_of: RecordOf,
    source: str,
    most_seconds: float | None,
) -> Iterator[pa.RecordBatch]:
    runs = runs_of(batches, run, source=source, order=order, record_of=record_of)
    return _checked(runs, options, most_seconds)


def _checked(
    runs: Iterator[ArchivedRun], options: RunOptions, most_seconds: float | None
) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    task = TaskContext.get()
    is_retry = task is not None and task.attemptNumber() > 0
    return (check_separately if is_retry else check_partition)(runs, options, most_seconds=most_seconds)


def _usual_tasks(spark: SparkSession) -> int:
    return int(str(spark.conf.get("spark.sql.shuffle.partitions")))


def _struct(schema: pa.Schema) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
