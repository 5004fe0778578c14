"""Archives and streams on Spark beside the pool of this machine, on the same runs.

It is a part of `benchmarks.speed.fleet`. Runs are made: nine of ten have 20 to 60 events, the others 200, and
one is long. Each engine checks the same files into Parquet, Spark also the same events as rows; its start
stands apart. The rows are compared. A stream is killed with its process in the middle and begun again; its
rows are those of `advance`.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.spark_session import local_spark
from ebbtide.batch.archive.archive_files import files_at
from ebbtide.batch.check_archive import ArchiveTask, check_files
from ebbtide.batch.results.result_parts import result_batches
from ebbtide.batch.spark.verdict_changes import advance
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.events.event_json import read_event
from ebbtide.supervision.run_options import RunOptions

_ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_SETTINGS = {
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.streaming.stateStore.providerClass": _ROCKS,
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.driver.memory": "3g",
}
# Events of each run in each batch. The first that is read after the kill starts Spark's workers, too.
_BATCHES = (10, 1, 4, 4, 1, 2, 4, 10)
_COMPARED = 1_000  # rows at a time
_MAP = RowMap(run="run", order="seq", format="ebbtide")
_FIELDS = "run string, seq bigint, ts double, name string, args string, result string, cost_usd double"


def archives(sizes: list[int], longest: int, cores: int) -> dict[str, Any]:
    """The pool and Spark on archives of several sizes.

    Args:
        sizes: Runs of each.
        longest: Events of the longest run of each.
        cores: That both may use.
    """
    with tempfile.TemporaryDirectory(prefix="ebbtide-spark-") as place:
        folder = Path(place)
        begin = time.perf_counter()
        spark = local_spark(folder, _SETTINGS, master=f"local[{cores}]")
        _on_spark(spark, _written(folder / "first", 50, 200))
        start_s = round(time.perf_counter() - begin, 1)
        print(f"Spark starts in {start_s} s, its first job with it; {cores} cores")
        results = [_archive(spark, folder, size, longest, cores) for size in sizes]
        spark.stop()
    return {"start_s": start_s, "cores": cores, "sizes": results}


def _archive(spark: Any, folder: Path, size: int, longest: int, cores: int) -> dict[str, Any]:
    place = _written(folder / str(size), size, longest)
    pool_s, pool_table = _in_pool(place, folder / f"{size}.parquet", cores)
    spark_s, spark_table = _on_spark(spark, place)
    assert _are_equal(pool_table, spark_table), "the rows of Spark are not those of the pool"
    rows_s, rows_table = _on_rows(spark, place)
    nameless = [table.drop_columns(["source"]) for table in (pool_table, rows_table)]
    assert _are_equal(*nameless, are_named=False), "the rows of a table are not those of files"
    shutil.rmtree(place)
    result = {
        "runs": size,
        "longest": longest,
        "events": sum(pool_table["events"].to_pylist()),
        "pool_s": round(pool_s, 1),
        "spark_s": round(spark_s, 1),
        "spark_rows_s": round(rows_s, 1),
        "of_the_pool": round(pool_s / spark_s, 2),
        "load": round(os.getloadavg()[0], 1),
    }
    print(f"the same rows: {result}")
    return result


def _in_pool(place: Path, output: Path, cores: int) -> tuple[float, pa.Table]:
    begin = time.perf_counter()
    check_files(files_at([str(place)]), ArchiveTask(output=output, options=RunOptions(), jobs=cores))
    return time.perf_counter() - begin, pa.Table.from_batches(result_batches(output))


def _on_spark(spark: Any, place: Path) -> tuple[float, pa.Table]:
    from ebbtide.batch.spark import spark_archive as engine

    begin = time.perf_counter()
    output = str(place) + "-results"
    engine.check_files(spark, [str(place)]).write.mode("overwrite").parquet(output)
    took = time.perf_counter() - begin
    return took, pq.read_table(output)


def _on_rows(spark: Any, place: Path) -> tuple[float, pa.Table]:
    """The same events as rows of a table, as they lie in their files."""
    from ebbtide.batch.spark import spark_archive as engine

    begin = time.perf_counter()
    output = str(place) + "-rows-results"
    events = spark.read.schema(_FIELDS).json(str(place))
    engine.check_rows(events, row_map=_MAP).write.mode("overwrite").parquet(output)
    took = time.perf_counter() - begin
    return took, pq.read_table(output)


def _are_equal(one: pa.Table, other: pa.Table, *, are_named: bool = True) -> bool:
    """Whether two results say the same of each run, compared piece by piece: all of them are large.

    Args:
        one: Some results.
        other: The others.
        are_named: Whether a run has the same name in both. It is called by its file, or by a column; both end
            with its number.
    """
    tables = []
    for table in (one, other):
        numbers = [int(re.findall(r"\d+", run_id)[-1]) for run_id in table["run_id"].to_pylist()]
        in_order = table.take(sorted(range(len(numbers)), key=numbers.__getitem__))
        tables.append(in_order if are_named else in_order.drop_columns(["run_id"]))
    return len(one) == len(other) and all(
        tables[0].slice(start, _COMPARED).to_pylist() == tables[1].slice(start, _COMPARED).to_pylist()
        for start in range(0, len(one), _COMPARED)
    )


def _written(place: Path, runs: int, longest: int) -> Path:
    """A folder of runs, made alike each time."""
    chance = random.Random(runs)
    place.mkdir()
    for number in range(runs):
        length = 200 if number % 10 == 9 else chance.randint(20, 60)
        if number == runs // 2:
            length = longest
        text = "\n".join(json.dumps(event) for event in _events(f"run {number}", length, chance))
        (place / f"{number:06}.jsonl").write_text(text)
    return place


def _events(run: str, length: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """A run; one of twenty goes in circles."""
    is_stuck = chance.random() < 0.05
    for seq in range(length):
        page = 0 if is_stuck else seq
        yield {
            "run": run,
            "seq": seq,
            "ts": 1_780_000_000.0 + seq,
            "name": "ls" if is_stuck else chance.choice(["read", "search", "edit"]),
            "args": json.dumps({"page": page}),
            "result": f"page {page}: " + "words of an answer " * (1 if is_stuck else chance.randint(1, 12)),
            "cost_usd": 0.001,
        }


def killed_stream(runs: int, cores: int) -> dict[str, Any]:
    """A stream that is killed in its third batch; in each batch every run gets some events.

    So many are what a trigger of some seconds leaves to a batch: the rate hangs on it.

    Args:
        runs: Live ones.
        cores: Of Spark.
    """
    with tempfile.TemporaryDirectory(prefix="ebbtide-stream-") as folder:
        return _killed_stream(Path(folder), runs, cores)


def _killed_stream(folder: Path, runs: int, cores: int) -> dict[str, Any]:
    source = folder / "stream"
    (source / "in").mkdir(parents=True)
    chance = random.Random(runs)
    live = {
        f"run {number}": _events(f"run {number}", sum(_BATCHES), random.Random(chance.random()))
        for number in range(runs)
    }
    states: dict[str, bytes] = {}
    expected = []
    schema = pa.schema(
        [
            (name, {"string": pa.string(), "bigint": pa.int64()}.get(kind, pa.float64()))
            for name, kind in (field.split() for field in _FIELDS.split(", "))
        ]
    )
    for number, count in enumerate(_BATCHES):
        rows = []
        for run, events in live.items():
            piece = list(islice(events, count))
            rows += piece
            states[run], changes = advance(
                states.get(run), [read_event(_MAP.record_of(event)) for event in piece], run_id=run
            )
            expected += [(change.run_id, change.event, change.action) for change in changes]
        pq.write_table(pa.Table.from_pylist(rows, schema), source / "in" / f"{number}.parquet")
        time.sleep(0.05)
    sizes = sorted(len(state) for state in states.values())
    result: dict[str, Any] = {"runs": runs, "state_bytes": sizes[len(sizes) // 2], "largest_state": sizes[-1]}
    first = _process(source, cores)
    while not (source / "checkpoint" / "commits" / "1").exists() and first.poll() is None:
        time.sleep(0.2)
    time.sleep(1)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    last = _process(source, cores)
    batches = [json.loads(line) for line in last.communicate()[0].splitlines()]
    for batch in batches:
        batch["events_per_run"] = round(batch["events"] / runs, 1)
        batch["events_per_s"] = round(batch["events"] / batch["seconds"])
    result["batches"] = batches
    written = pq.read_table(source / "rows.parquet").to_pylist()
    result["changes"] = len(written)
    result["as_advance"] = sorted(tuple(row.values()) for row in written) == sorted(expected)
    result["load"] = round(os.getloadavg()[0], 1)
    print(result)
    return result


def _process(source: Path, cores: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.speed.spark", str(source), str(cores)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )


def _stream(source: Path, cores: int) -> None:
    from ebbtide.batch.spark.spark_stream import verdict_changes

    spark = local_spark(
        source, _SETTINGS | {"spark.sql.shuffle.partitions": str(2 * cores)}, master=f"local[{cores}]"
    )
    rows = spark.readStream.schema(_FIELDS).option("maxFilesPerTrigger", 1).parquet(str(source / "in"))
    writer = verdict_changes(rows, row_map=_MAP).writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(source / "checkpoint")).option(
        "path", str(source / "out")
    )
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    # By Spark, which knows what a killed process left behind.
    table = spark.read.parquet(str(source / "out")).select("run_id", "event", "action").toArrow()
    pq.write_table(table, source / "rows.parquet")
    for progress in query.recentProgress:
        (state,) = progress["stateOperators"]
        batch = {
            "events": progress["numInputRows"],
            "seconds": progress["durationMs"]["triggerExecution"] / 1_000,
            "state_mb": round(state["memoryUsedBytes"] / 1e6, 1),
        }
        print(json.dumps(batch), flush=True)
    spark.stop()


if __name__ == "__main__":  # the process that is killed
    _stream(Path(sys.argv[1]), int(sys.argv[2]))
