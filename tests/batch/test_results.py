"""Runs in, rows out: the columns, and the same rows in any order and split."""

import dataclasses
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.batch.archive.checking_runs import check_events, check_partition, check_run
from ebbtide.batch.results.archived_run import EventsRun, FileRun
from ebbtide.batch.results.run_result import RunResult, result_batch, result_schema
from ebbtide.batch.spark.verdict_changes import VerdictChange, advance, change_batch, change_schema
from ebbtide.budget.limits import Limits
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.run_options import RunOptions

COLUMNS = {  # those that a reader of results version 1 counts on
    "run_id": "string",
    "source": "string",
    "version": "int64",
    "status": "string",
    "error": "string",
    "error_line": "int64",
    "error_path": "string",
    "format": "string",
    "headline": "string",
    "course": "string",
    "action": "string",
    "cause": "string",
    "kind": "string",
    "reason": "string",
    "verdict_event": "int64",
    "chain_id": "string",
    "latest_action": "string",
    "recovered": "bool",
    "ending": "string",
    "agent": "string",
    "model": "string",
    "began_s": "double",
    "ended_s": "double",
    "seconds": "double",
    "events": "int64",
    "tool_calls": "int64",
    "model_calls": "int64",
    "tokens": "int64",
    "cost_usd": "double",
    "unpriced_calls": "int64",
    "wasted_usd": "double",
    "wasted_tokens": "int64",
    "avoidable_usd": "double",
    "avoidable_tokens": "int64",
    "saved_usd": "double",
    "saved_tokens": "int64",
    "saved_events": "int64",
    "calls_without_arguments": "int64",
    "calls_without_answer": "int64",
    "converged": "string",
    "degraded": "int64",
    "session": "string",
    "parent": "string",
    "inherited_cost_usd": "double",
    "project": "string",
}
AT_THE_END = ("session", "parent", "inherited_cost_usd", "project", "claims", "shipped")
STRUCTS = {
    "shipped": "known commits landed reverted lines_added lines_surviving missing_commits cost_usd unpriced",
}
LISTS = {
    "faults": None,
    "findings": "id kind action cause sentence advice chain_id tools first_event last_event copies cost_usd "
    "tokens seconds evidence parts",
    "waste": "kind amount count events example tools",
    "agents": "name amount first count failures event",
    "models": "name amount first count failures event",
    "tools": "name amount first count failures event",
    "contents": "name amount first count failures event",
    "decisions": "event agent text kept by_person accepted carried_out reason duplicate_of supersedes",
    "rounds": "number event agent novelty_rate new_claims claims readiness signal chain_id",
    "steps": "action kind event events_after calls_after tokens_after usd_after",
    "claims": "kind answer text start event changed line reason",
}


def stuck(length: int) -> list[Event]:
    """A run that asks the same over and over, and pays for it."""
    events: list[Event] = [Message(text="Find the invoice of May.", ts=1_780_000_000.0)]
    for number in range(length):
        usage = Usage(model="m-1", input_tokens=1_000 + 100 * number, output_tokens=50, cost_usd=0.01)
        at = 1_780_000_001.0 + 2 * number
        events += [
            ModelCall(text="I look again.", usage=usage, ts=at),
            ToolCall(name="search", args={"q": "invoice"}, result="nothing found", ts=at + 1),
        ]
    return events


def healthy(length: int) -> list[Event]:
    """A run that gets on."""
    return [
        ToolCall(name="read", args={"page": n}, result=f"page {n} of the book, {n * n} words")
        for n in range(length)
    ]


RUNS = [
    EventsRun(run_id=f"run {n}", source="made", events=stuck(n) if n % 3 else healthy(n))
    for n in range(1, 25)
]


def test_the_columns_of_version_1() -> None:
    """No column of the results changes its name, type or place; new ones come at the end."""
    schema = result_schema()
    scalars = {field.name: str(field.type) for field in schema if not pa.types.is_nested(field.type)}
    assert scalars == COLUMNS
    structs = {field.name: field.type for field in schema if pa.types.is_struct(field.type)}
    assert {name: " ".join(field.name for field in kind) for name, kind in structs.items()} == STRUCTS
    lists = {field.name: field.type.value_type for field in schema if pa.types.is_list(field.type)}
    assert {
        name: " ".join(field.name for field in kind) if pa.types.is_struct(kind) else None
        for name, kind in lists.items()
    } == LISTS
    first = [name for name in COLUMNS if name not in AT_THE_END]
    lists_first = [name for name in LISTS if name not in AT_THE_END]
    assert schema.names == [*first, *lists_first, *AT_THE_END]
    assert schema.metadata == {b"ebbtide.results": b"1"}


def test_a_row_says_what_was_wasted_on_which_tool() -> None:
    """The waste of a run is there by kind, and of each kind by tool."""
    row = check_events(stuck(20), run_id="r")
    assert (row.status, row.action, row.model) == ("checked", "stop", "m-1")
    assert row.cost_usd == pytest.approx(0.2)
    (line,) = (line for line in row.waste if line.kind == "same_call")
    assert [tool.name for tool in line.tools] == ["search"]
    assert 0 < line.tools[0].amount.tokens <= line.amount.tokens
    assert row.wasted_usd == pytest.approx(line.amount.cost_usd)
    assert (row.began_s, row.ended_s) == (1_780_000_000.0, 1_780_000_040.0)


def test_tokens_that_a_run_does_not_tell_are_unknown_everywhere_in_its_row() -> None:
    """Its calls have costs, and no tokens: no column, and nothing in a list, says 0."""
    events = [dataclasses.replace(event, usage=None) for event in stuck(20) if not isinstance(event, Message)]
    costs = [dataclasses.replace(event, usage=Usage(model="m-1", cost_usd=0.01)) for event in events]
    (row,) = result_batch([check_events(costs, run_id="r")]).to_pylist()
    assert row["waste"]
    assert row["waste"][0]["tools"]
    assert row["tools"]
    assert {path: value for path, value in places(row) if "tokens" in path[-1] and value is not None} == {}
    (row,) = result_batch([check_events(stuck(20), run_id="r")]).to_pylist()
    assert all(value is not None for path, value in places(row) if path[-1] == "tokens")


def places(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Each scalar of plain data, and where it is."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, str(key)))
    if not isinstance(value, dict | list):
        yield path, value


@settings(max_examples=10)
@given(st.randoms(use_true_random=False), st.integers(1, 9))
def test_rows_depend_on_no_order_and_no_split(order: random.Random, rows: int) -> None:
    """Runs in any order and split come to the same rows, byte for byte."""
    shuffled = order.sample(RUNS, len(RUNS))
    cut = order.randrange(len(RUNS))
    parts = [list(check_partition(part, rows=rows)) for part in (shuffled[:cut], shuffled[cut:])]
    table = pa.Table.from_batches([batch for part in parts for batch in part], result_schema())
    assert _bytes(table) == _bytes(pa.Table.from_batches(check_partition(RUNS), result_schema()))


def _bytes(table: pa.Table) -> bytes:
    """A table in one form, so that equal ones are equal byte for byte."""
    table = table.sort_by("run_id").combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(pa.Table.from_pylist(table.to_pylist(), table.schema))
    return sink.getvalue().to_pybytes()


def test_what_cannot_be_checked_is_listed_with_where_and_why(tmp_path: Path) -> None:
    """A broken file, a picture, a lost run id and a file that is gone hold up nobody."""
    (tmp_path / "good.json").write_text('[{"kind": "tool", "name": "ls", "args": {}, "result": "a"}]')
    (tmp_path / "broken.jsonl").write_text('{"kind": "tool", "name"')
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    names = ["good.json", "broken.jsonl", "picture.png", "gone.jsonl"]
    runs = [FileRun(str(tmp_path / name)) for name in names]
    (batch,) = check_partition([*runs, EventsRun(run_id=None, source="table", events=healthy(3))])
    rows = batch.to_pylist()
    assert [row["status"] for row in rows] == [
        "checked",
        "unreadable",
        "no_trace",
        "unreadable",
        "unreadable",
    ]
    assert all(row["error"] for row in rows[1:])
    assert (rows[4]["run_id"], rows[4]["error"]) == (None, "the run has no id")


def test_the_place_of_an_error_is_kept() -> None:
    """A row has the line and the path of what was wrong."""

    def broken():
        raise TranscriptError("expected an object", line=7, path="calls[3]", hint="Mend it.")
        yield

    row = check_run(EventsRun(run_id="r", source="t", events=broken()))
    assert (row.error, row.error_line, row.error_path) == ("expected an object. Mend it.", 7, "calls[3]")


def test_an_error_that_quotes_a_key_shows_none() -> None:
    """Texts of refused runs are masked like all others, where nobody wants to see them."""
    key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

    def broken():
        raise TranscriptError(f"expected an object, found {key!r}")
        yield

    runs = [EventsRun(run_id="r", source="t", events=broken()) for _ in range(2)]
    masked, open_text = (check_run(runs[n], RunOptions(redact=n == 0)).error for n in range(2))
    assert key not in (masked or "")
    assert key in (open_text or "")


def test_a_run_that_takes_too_long_is_given_up() -> None:
    """It is told, and the others are done."""

    def endless():
        while True:
            time.sleep(0.001)
            yield ToolCall(name="ls", args={}, result="a")

    runs = [
        EventsRun(run_id="endless", source="t", events=endless()),
        EventsRun(run_id="good", source="t", events=healthy(3)),
    ]
    (batch,) = check_partition(runs, most_seconds=0.2)
    rows = batch.to_pylist()
    assert [row["status"] for row in rows] == ["out_of_time", "checked"]
    assert rows[0]["error"] == "TimeoutError: it took longer than 0.2 s"


@settings(max_examples=15)
@given(st.lists(st.integers(0, 85), max_size=6), st.booleans())
def test_changes_of_the_verdict_depend_on_no_split(cuts: list[int], numbered: bool) -> None:
    """A stream that is cut anywhere, and begun again from its state, gives the same changes and state."""
    events: list[Event] = [*stuck(20), *healthy(6), *stuck(20)]
    if numbered:
        events = [dataclasses.replace(event, seq=n) for n, event in enumerate(events)]
    whole, changes = advance(None, events, run_id="r")
    assert [change.action for change in changes][:5] == ["nudge"] * 3 + ["stop", "allow"]
    state: bytes | None = None
    parts: list[VerdictChange] = []
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(events)], strict=True):
        state, more = advance(state, events[start:end], run_id="r")
        if numbered:
            state, again = advance(state, events[start:end], run_id="r")
            assert not again, "told twice"
        parts += more
    assert parts == changes
    if not numbered:
        assert state == whole
    assert change_batch(changes).schema == change_schema()


def test_a_stop_of_one_chain_is_not_lifted_by_another() -> None:
    """Chains that get on say nothing of one that is stuck."""
    events: list[Event] = []
    for number, event in enumerate(stuck(20)):
        other = ToolCall(name="read", args={"page": number}, result=f"page {number}", chain_id="b")
        events += [dataclasses.replace(event, chain_id="a"), other]
    _, changes = advance(None, events, run_id="r")
    assert [change.action for change in changes] == ["nudge"] * 3 + ["stop"]


def test_options_judge_all_runs_alike() -> None:
    """What a run may take is told for each."""
    (batch,) = check_partition(RUNS[:6], RunOptions(limits=Limits(cost_usd=0.045)))
    assert [row["kind"] for row in batch.to_pylist()] == [None, None, None, "limit", "limit", None]


def test_a_row_has_every_column() -> None:
    """`RunResult` and the schema have the same fields."""
    assert [field.name for field in dataclasses.fields(RunResult)] == result_schema().names
