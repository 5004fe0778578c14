"""Archives on Spark: the same rows as in one process, and what goes wrong is a row."""

import os
import time
from pathlib import Path

import pyarrow as pa
import pytest

from ebbtide.batch.archive_files import files_at
from ebbtide.batch.checking_runs import check_partition
from ebbtide.batch.run_result import result_schema
from ebbtide.batch.separate_checks import check_separately
from ebbtide.batch.spark import check_files, check_rows
from ebbtide.batch.table_runs import runs_of

EXAMPLES = Path(__file__).parents[3] / "examples"


def as_bytes(table):
    """Results in one form, so that equal ones are equal byte for byte."""
    rows = sorted(table.to_pylist(), key=lambda row: (row["run_id"] or "", row["source"]))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, result_schema()) as writer:
        writer.write_table(pa.Table.from_pylist(rows, result_schema()))
    return sink.getvalue().to_pybytes()


def in_process(runs):
    return pa.Table.from_batches(check_partition(runs), result_schema())


def table_of(lengths):
    """A table of events as they come, those of all runs mixed; a run of an odd length goes in circles."""
    rows = [
        {
            "trace": run,
            "at": at,
            "kind": "tool",
            "name": "search",
            "args": f'{{"q": {at if length % 2 == 0 else 0}}}',
            "result": f"answer {at}" if length % 2 == 0 else "nothing",
            "cost_usd": 0.001,
        }
        for run, length in lengths.items()
        for at in range(length)
    ]
    return sorted(rows, key=lambda row: (row["at"] * 7_919) % 104_729)


def spark_table(spark, rows):
    return spark.createDataFrame(pa.Table.from_pylist(rows))


def test_files_come_to_the_same_rows(spark, tmp_path):
    """Runs of all formats, a broken one, a picture and a pipe: as in one process, byte for byte."""
    (tmp_path / "broken.jsonl").write_text('{"kind": "tool", "name"')
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    os.mkfifo(tmp_path / "pipe.jsonl")
    names = [str(EXAMPLES), str(tmp_path)]
    table = check_files(spark, names).toArrow()
    assert as_bytes(table) == as_bytes(in_process(file.run for file in files_at(names)))
    assert table.schema == result_schema()
    assert {row["status"] for row in table.to_pylist()} == {"checked", "unreadable", "no_trace"}


def test_rows_come_to_the_same_rows(spark):
    """Whatever the partitions are: a run of 5,000 events among short ones, and rows without a run."""
    rows = table_of({**{f"run {number}": number for number in range(1, 40)}, "long": 5_000, None: 3})
    table = check_rows(spark_table(spark, rows).repartition(7), run="trace", order="at").toArrow()
    rows.sort(key=lambda row: (row["trace"] or "", row["at"]))
    batches = pa.Table.from_pylist(rows).to_batches(max_chunksize=100)
    assert as_bytes(table) == as_bytes(in_process(runs_of(batches, "trace", source="rows", order=["at"])))
    lost, *others = sorted(table.to_pylist(), key=lambda row: row["run_id"] or "")
    assert (lost["run_id"], lost["error"]) == (None, "the run has no id")
    assert {row["run_id"]: row["events"] for row in others}["long"] == 5_000
    assert {row["action"] for row in others} == {"allow", "nudge", "stop"}


def test_a_run_without_an_order_is_refused(spark):
    """Two rows and no way to say which is first; a single one needs no order."""
    rows = table_of({"alone": 1, "two": 2})
    frame = spark_table(spark, [row | {"at": None if row["at"] == 0 else 1} for row in rows])
    table = check_rows(frame, run="trace", order=["at"], source="traces").toArrow()
    alone, two = sorted(table.to_pylist(), key=lambda row: row["run_id"])
    assert (alone["status"], two["status"], two["source"]) == ("checked", "unreadable", "traces")
    assert two["error"] == "the order of the rows is not known: 1 without a value in the column 'at'"


def test_a_row_that_cannot_be_read_costs_its_event(spark):
    """It is counted, with its number in the run; a record may be a text of JSON."""
    lines = ['{"name": "ls", "args": {}, "result": "a"}'] * 3
    rows = [{"run": "r", "at": at, "event": text} for at, text in enumerate([*lines, '{"name": 3}', "no"])]
    frame = check_rows(spark_table(spark, rows), run="run", order="at", record_of=lambda row: row["event"])
    (row,) = frame.toArrow().to_pylist()
    assert (row["events"], row["degraded"]) == (3, 2)
    assert row["faults"][0].startswith("rows:4: ")


def test_a_run_that_takes_too_long_is_given_up(spark):
    """It is told, and the others are done."""

    def record_of(row):
        while row["trace"] == "poison":
            time.sleep(0.01)
        return row

    rows = table_of({"a": 4, "b": 5, "poison": 3, "z": 6})
    frame = check_rows(
        spark_table(spark, rows), run="trace", order="at", record_of=record_of, most_seconds=0.5, tasks=1
    )
    table = sorted(frame.toArrow().to_pylist(), key=lambda row: row["run_id"])
    assert [row["status"] for row in table] == ["checked", "checked", "out_of_time", "checked"]


def test_a_run_that_ends_its_executor_is_listed(spark):
    """The task is tried again with a process for each run, and all others are done."""

    def record_of(row):
        if row["trace"] == "poison":
            os._exit(9)
        return row

    rows = table_of({"a": 4, "b": 5, "poison": 3, "z": 6})
    frame = check_rows(spark_table(spark, rows), run="trace", order="at", record_of=record_of, tasks=1)
    table = sorted(frame.toArrow().to_pylist(), key=lambda row: row["run_id"])
    assert [row["status"] for row in table] == ["checked", "checked", "unreadable", "checked"]
    assert table[2]["error"] == "the process that checked it has ended, perhaps for want of memory"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no such processes")
def test_separate_processes_give_the_same_rows():
    """No Spark is needed for it."""
    names = [str(EXAMPLES / "runs")]
    runs = [file.run for file in files_at(names)]
    table = pa.Table.from_batches(check_separately(runs), result_schema())
    assert as_bytes(table) == as_bytes(in_process(runs))
