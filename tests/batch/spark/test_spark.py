"""Archives on Spark: the same rows as in one process, and what goes wrong is a row."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from ebbtide.batch.archive.archive_files import files_at
from ebbtide.batch.archive.checking_runs import check_partition
from ebbtide.batch.results.result_parts import result_batches
from ebbtide.batch.results.run_result import result_schema
from ebbtide.batch.spark.spark_archive import check_files, check_rows, check_separately
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.rows_run import runs_in
from ebbtide.budget.prices import Prices
from ebbtide.errors import ConfigError
from ebbtide.supervision.run_options import RunOptions

EXAMPLES = Path(__file__).parents[3] / "examples"
KEYS = ("kind", "name", "result", "cost_usd", "model", "input_tokens")
MAP = RowMap(
    run="trace",
    order="at",
    format="ebbtide",
    record={"args": "tool.args", **{key: key for key in KEYS}},
    json=frozenset({"tool.args"}),
)


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
            "tool.args": f'{{"q": {at if length % 2 == 0 else 0}}}',
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


def test_the_job_of_the_examples(spark, tmp_path):
    """As a user submits it; what it writes is reported as a file of results is."""
    names = [str(EXAMPLES / "runs")]
    command = [Path(sys.executable).parent / "spark-submit", "--master", "local[2]"]
    command += ["--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2"]
    job = [EXAMPLES / "spark_job.py", tmp_path / "results", *names]
    process = subprocess.run([*command, *job], capture_output=True, text=True, timeout=300, check=False)
    assert process.returncode == 0, process.stderr[-2_000:]
    table = pa.Table.from_batches(result_batches(tmp_path / "results"))
    assert as_bytes(table) == as_bytes(in_process(file.run for file in files_at(names)))


def test_rows_come_to_the_same_rows(spark):
    """Whatever the partitions are: a run of 5,000 events among short ones, and rows without a run."""
    rows = table_of({**{f"run {number}": number for number in range(1, 40)}, "long": 5_000, None: 3})
    table = check_rows(spark_table(spark, rows).repartition(7), row_map=MAP).toArrow()
    rows.sort(key=lambda row: (row["trace"] or "", row["at"]))
    batches = pa.Table.from_pylist(rows).to_batches(max_chunksize=100)
    assert as_bytes(table) == as_bytes(in_process(runs_in(batches, MAP, source="rows")))
    lost, *others = sorted(table.to_pylist(), key=lambda row: row["run_id"] or "")
    assert (lost["run_id"], lost["error"]) == (None, "rows without trace: 3; nobody knows their runs")
    assert {row["run_id"]: row["events"] for row in others}["long"] == 5_000
    assert {row["action"] for row in others} == {"allow", "nudge", "stop"}


def test_what_is_not_as_it_should_be_is_told(spark):
    """Rows without an order come last; a row that cannot be read is counted; a column that is not there."""
    rows = table_of({"run": 5})
    rows[0]["at"] = None
    rows[1]["name"] = None
    frame = spark_table(spark, rows)
    (row,) = check_rows(frame, row_map=MAP, source="traces").toArrow().to_pylist()
    assert (row["status"], row["source"], row["degraded"]) == ("checked", "traces", 2)
    assert row["faults"][0] == "1 of 5 rows have no at: they come last"
    with pytest.raises(ConfigError, match="traces: there is no column 'when'"):
        check_rows(frame, row_map=MAP, order="when", source="traces")


def test_a_run_that_takes_too_long_is_given_up(spark):
    """It is told, and the others are done."""
    rows = table_of({"a": 4, "b": 5, "poison": 60_000, "z": 6})
    frame = check_rows(spark_table(spark, rows), row_map=MAP, most_seconds=2.5, tasks=1)
    table = sorted(frame.toArrow().to_pylist(), key=lambda row: row["run_id"])
    assert [row["status"] for row in table] == ["checked", "checked", "out_of_time", "checked"]


def test_a_run_that_ends_its_executor_is_listed(spark):
    """The task is tried again with a process for each run, and all others are done."""

    class DeadlyPrices(Prices):
        def cost(self, usage, ts=None):
            if usage.model == "poison":
                os._exit(9)
            return 0.01

    rows = table_of({"a": 4, "b": 5, "poison": 3, "z": 6})
    rows = [row | {"cost_usd": None, "model": row["trace"], "input_tokens": 9} for row in rows]
    frame = check_rows(spark_table(spark, rows), RunOptions(prices=DeadlyPrices()), row_map=MAP, tasks=1)
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
