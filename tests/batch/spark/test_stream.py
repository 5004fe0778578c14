"""Live runs on a stream of Spark: what `advance` says of their events, however often the stream begins."""

import datetime as dt
import time
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebbtide.batch.spark.spark_archive import struct_of
from ebbtide.batch.spark.spark_stream import verdict_changes
from ebbtide.batch.spark.verdict_changes import advance, change_schema
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.codec import to_wire
from ebbtide.errors import ConfigError
from ebbtide.events.event import ModelCall, ToolCall
from ebbtide.events.event_json import read_event
from ebbtide.events.usage import Usage

KINDS = {
    "run": pa.string(),
    "at.s": pa.float64(),
    "seq": pa.int64(),
    "name": pa.string(),
    "result": pa.string(),
}
NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"
MAP = RowMap(
    run="run",
    order="at.s",
    record={"seq": "seq", "ts": "at.s", "name": "name", "args": {"value": {}}, "result": "result"},
)


def row(run, seq, name="ls", result="nothing"):
    return {"run": run, "at.s": 1_780_000_000.0 + seq, "seq": seq, "name": name, "result": result}


#: What comes, file by file: mixed runs, an event that is late, and a file that comes twice.
FILES = [
    [row(run, seq) for seq in range(first, first + 3) for run in ("a", "b", "c") if (run, seq) != ("b", 4)]
    for first in (0, 3, 6)
]
FILES = [
    FILES[0],
    FILES[1],
    FILES[1],
    [*FILES[2], row("b", 4)],
    [row(run, 9, "read", "done") for run in "abc"],
]


def write(folder, number, rows):
    """One file, complete or not there."""
    table = pa.Table.from_pylist(rows, pa.schema(KINDS.items()))
    pq.write_table(table, folder / f".{number}.parquet")
    (folder / f".{number}.parquet").rename(folder / f"{number}.parquet")
    time.sleep(0.01)  # Spark takes them by their times


def expected(files):
    """What `advance` says of the same events in the same order."""
    states, changes = {}, []
    for rows in files:
        for run in sorted({item["run"] for item in rows}):
            mine = sorted((item for item in rows if item["run"] == run), key=lambda item: item["at.s"])
            events = [read_event(MAP.record_of(item)) for item in mine]
            states[run], more = advance(states.get(run), events, run_id=run)
            changes += more
    return sorted((change.run_id, change.event, change.action, change.reason) for change in changes)


def stream(spark, folder, **how):
    """The stream of the files, one file a batch."""
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    fields = "run string, `at.s` double, seq bigint, name string, result string"
    source = spark.readStream.schema(fields).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    changes = verdict_changes(source, row_map=MAP, **how)
    writer = changes.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    return writer.option("path", str(folder / "out"))


def written(spark, folder):
    """The rows of the sink, in order."""
    if not (folder / "out" / "_spark_metadata").is_dir():
        return []
    rows = spark.read.schema(struct_of(change_schema())).parquet(str(folder / "out")).toArrow().to_pylist()
    return sorted(rows, key=lambda item: (item["run_id"] or "", item["event"], item["kind"] or ""))


def test_a_stream_that_is_begun_anew_says_the_same(spark, tmp_path):
    """Begun again from its checkpoint, with late and doubled events: each change of `advance`, once."""
    (tmp_path / "in").mkdir()
    for files in (range(2), range(2, len(FILES))):
        for number in files:
            write(tmp_path / "in", number, FILES[number])
        spark.conf.set(NO_DATA, "false")  # or it would look for what to forget, and never end
        query = stream(spark, tmp_path, buckets=2).trigger(availableNow=True).start()
        assert query.awaitTermination(200)
        assert query.exception() is None
    rows = written(spark, tmp_path)
    assert [(item["run_id"], item["event"], item["action"], item["reason"]) for item in rows] == expected(
        FILES
    )
    assert {item["action"] for item in rows} == {"nudge", "stop", "allow"}
    assert list(rows[0]) == change_schema().names


def test_remarks_on_runs(spark, tmp_path):
    """A run of which nothing is heard is told once; rows that are no events, or have no run, stop nothing."""
    (tmp_path / "in").mkdir()
    write(tmp_path / "in", 0, [row("a", 0), row("a", 1) | {"name": None}, row(None, 2), row("a", 3)])
    spark.conf.set(NO_DATA, "true")
    query = stream(spark, tmp_path, silent_after_s=1).trigger(processingTime="1 second").start()
    try:
        until = time.monotonic() + 200
        while not any(item["kind"] == "silent" for item in written(spark, tmp_path)):
            assert time.monotonic() < until
            assert query.exception() is None
            time.sleep(1)
        count = query.lastProgress["batchId"]
        while query.lastProgress["batchId"] < count + 2:  # it is not told again
            assert time.monotonic() < until
            time.sleep(1)
    finally:
        query.stop()
    remarks = [
        (item["run_id"], item["event"], item["kind"], item["reason"]) for item in written(spark, tmp_path)
    ]
    assert remarks == [
        (None, 0, "unreadable", "rows without run: 1; nobody knows their runs"),
        ("a", 2, "silent", "nothing was heard of it for 1 s"),
        ("a", 2, "unreadable", "at.s 1780000001.0: None: expected the name of a tool"),
    ]


def test_the_calls_of_live_spans(spark, tmp_path, project):
    """As the page says: of the collector's table, each call of a tool or a model is an event at its end."""
    page = (project / "docs" / "spark.md").read_text(encoding="utf-8")
    (block,) = (part for part in page.split("```") if part.startswith("py\ncalls = spans"))
    calls = {"chat": {"gen_ai.request.model": "m-1", "gen_ai.usage.input_tokens": "900"}}
    calls["execute_tool"] = {
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.arguments": '{"q": "invoice"}',
        "gen_ai.tool.call.result": "nothing",
    }
    calls["invoke_agent"] = {"gen_ai.usage.input_tokens": "9000"}  # the sum, which is told last
    at = dt.datetime(2026, 11, 2, 9, tzinfo=dt.UTC)
    rows = [
        {
            "Timestamp": at + dt.timedelta(seconds=seq),
            "TraceId": run,
            "SpanAttributes": list((calls[kind] | {"gen_ai.operation.name": kind}).items()),
            "Duration": 500_000_000,
            "StatusCode": "Ok",
        }
        for run in ("a", "b")
        for seq, kind in enumerate([*(["chat", "execute_tool"] * 8), "invoke_agent"])
    ]
    kinds = {"Timestamp": pa.timestamp("us", "UTC"), "SpanAttributes": pa.map_(pa.string(), pa.string())}
    schema = pa.schema(
        [(name, kinds.get(name, pa.int64() if name == "Duration" else pa.string())) for name in rows[0]]
    )
    (tmp_path / "in").mkdir()
    for number in range(3):  # in two batches or more, and in no order
        pq.write_table(
            pa.Table.from_pylist(rows[number::3][::-1], schema), tmp_path / "in" / f"{number}.parquet"
        )
    spans = spark.readStream.schema(struct_of(schema)).parquet(str(tmp_path / "in"))
    scope = {"spans": spans, "verdict_changes": verdict_changes}
    exec(block.removeprefix("py\n"), scope)  # noqa: S102 - our own page
    spark.conf.set(NO_DATA, "false")
    writer = (
        scope["changes"]
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
    )
    assert (
        writer.option("path", str(tmp_path / "out")).trigger(availableNow=True).start().awaitTermination(200)
    )
    events = []
    for seq in range(16):
        usage = Usage(model="m-1", input_tokens=900)
        call = ToolCall(name="search", args={"q": "invoice"}, result="nothing")
        event = call if seq % 2 else ModelCall(usage=usage)
        events.append(replace(event, ts=at.timestamp() + seq + 0.5))
    changes = [change for run in "ab" for change in advance(None, events, run_id=run)[1]]
    assert written(spark, tmp_path) == [to_wire(change) for change in changes]
    assert {change.kind for change in changes} == {"repeat"}


def test_what_no_stream_can_take_is_refused(spark):
    """Spans need the ones around them, and so a whole run."""
    with pytest.raises(ConfigError, match="format 'ebbtide'"):
        verdict_changes(spark.range(1), row_map="langfuse")
    with pytest.raises(ConfigError, match="buckets = 0"):
        verdict_changes(spark.range(1), buckets=0)
