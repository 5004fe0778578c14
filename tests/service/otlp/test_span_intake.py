"""Spans as they come, late, twice and out of order, and the runs that become of them."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.service.otlp.export import JSON, PROTOBUF, Export, SignalKind, read_export, unpacked
from ebbtide.service.otlp.span_intake import SpanIntake, run_id_of
from ebbtide.traces.telemetry.otlp import OtlpReader

MakeExport = Callable[..., Export]


def taken(intake: SpanIntake, *exports: Export, at: float = 0.0) -> None:
    for export in exports:
        intake.take(export, at, size=100)


def names(events: tuple[Event, ...]) -> list[str | None]:
    return [
        event.name if isinstance(event, ToolCall) else getattr(event, "text", None)
        for event in events
        if not isinstance(event, Message)
    ]


def test_the_wait(wire: SimpleNamespace, export: MakeExport) -> None:
    """A span waits so long for others; what began before it in its trace goes first, whenever it came."""
    intake = SpanIntake(wait_s=10.0)
    taken(intake, export(wire.tool("t:3", 3, 4, "third")), at=0.0)
    taken(intake, export(wire.tool("t:1", 1, 2, "first"), wire.tool("t:5", 5, 6, "fifth")), at=9.0)
    assert intake.settle(9.9) == []
    (run,) = intake.settle(10.0)
    assert names(run.events) == ["first", "third"]
    assert intake.settle(18.9) == []
    (run,) = intake.settle(19.0)
    assert (names(run.events), run.note) == (["fifth"], "")
    assert intake.waiting == 0


def test_inner_spans_come_first(wire: SimpleNamespace, export: MakeExport) -> None:
    """A run is told while it runs, its agent's sum adds nothing, and its end is noticed."""
    intake = SpanIntake(wait_s=1.0)
    usage = {"gen_ai.usage.input_tokens": 200, "gen_ai.usage.output_tokens": 20}
    taken(intake, export(wire.model("t:m1<a", 1, 2), wire.tool("t:s<a", 2, 3)), at=0.0)
    (first,) = intake.settle(1.0)
    taken(intake, export(wire.model("t:m2<a", 3, 4), wire.agent("t:a", 0, 5, **usage)), at=2.0)
    (second,) = intake.settle(3.0)
    assert names(first.events) == ["I see.", "search"]
    assert names(second.events) == ["I see."]
    assert [run.has_ended for run in (first, second)] == [False, True]
    assert (second.agent, second.service) == ("finder", "shop")


def test_a_late_span_counts_and_is_told(wire: SimpleNamespace, export: MakeExport) -> None:
    """It comes behind what it should be before."""
    intake = SpanIntake(wait_s=1.0)
    taken(intake, export(wire.tool("t:2", 2, 3, "second")), at=0.0)
    intake.settle(1.0)
    taken(intake, export(wire.tool("t:1", 1, 2, "first"), wire.tool("t:3", 3, 4, "third")), at=2.0)
    (run,) = intake.settle(3.0)
    assert names(run.events) == ["first", "third"]
    assert run.note == "1 span came late, and counted behind later ones."


def test_what_comes_twice_counts_once(wire: SimpleNamespace, export: MakeExport) -> None:
    """An exporter sends a batch again when it heard no answer, before the wait or after it."""
    intake = SpanIntake(wait_s=1.0)
    batch = export(wire.tool("t:1", 1, 2), wire.model("t:2", 2, 3))
    taken(intake, batch, batch, at=0.0)
    (run,) = intake.settle(1.0)
    taken(intake, batch, at=2.0)
    assert not any(news.events for news in intake.settle(5.0))
    assert (names(run.events), intake.duplicates) == (["search", "I see."], 4)


CONVERSATION = {"gen_ai.conversation.id": "c7"}


@pytest.mark.parametrize(
    ("attributes", "run_id"),
    [
        ({"gen_ai.conversation.id": "c7", "session.id": "s1"}, "c7"),
        ({"session.id": "s1"}, "s1"),
        ({}, "74".zfill(32)),
    ],
)
def test_the_key_of_a_run(
    wire: SimpleNamespace, export: MakeExport, attributes: dict[str, Any], run_id: str
) -> None:
    """The conversation, else the session, else the trace."""
    intake = SpanIntake(wait_s=1.0)
    taken(intake, export(wire.tool("t:1", 1, 2, **attributes)))
    assert [run.run_id for run in intake.settle(1.0)] == [run_id]


def test_many_runs_in_a_batch(wire: SimpleNamespace, export: MakeExport) -> None:
    """Each run gets its own; traces of one conversation are one run, in the order of their times."""
    intake = SpanIntake(wait_s=1.0)
    taken(
        intake,
        export(
            wire.tool("u:1", 5, 6, "later", **CONVERSATION),
            wire.tool("x:1", 1, 2, "other"),
            wire.tool("t:1", 1, 2, "sooner", **CONVERSATION),
        ),
    )
    runs = {run.run_id: names(run.events) for run in intake.settle(1.0)}
    assert runs == {"c7": ["sooner", "later"], wire.trace_id("x"): ["other"]}


def test_spans_inherit_the_conversation(wire: SimpleNamespace, export: MakeExport) -> None:
    """Of what is around them, if it comes within the wait; after that the run goes on under its name."""
    intake = SpanIntake(wait_s=1.0)
    taken(intake, export(wire.tool("t:1<a", 1, 2)), at=0.0)
    taken(intake, export(wire.agent("t:a", 0, 3, **CONVERSATION)), at=0.5)
    assert [run.run_id for run in intake.settle(1.0) if run.events] == ["c7"]

    intake = SpanIntake(wait_s=1.0)
    taken(intake, export(wire.tool("t:1<a", 1, 2)), at=0.0)
    assert [run.run_id for run in intake.settle(1.0)] == [wire.trace_id("t")]
    taken(intake, export(wire.agent("t:a", 0, 3, **CONVERSATION)), at=2.0)
    taken(intake, export(wire.tool("u:1", 4, 5, **CONVERSATION)), at=2.0)
    assert {run.run_id for run in intake.settle(3.0)} == {wire.trace_id("t")}


def test_plain_spans_make_no_run(wire: SimpleNamespace, export: MakeExport) -> None:
    """Of a web server, say; yet they may stand between an agent and its model."""
    intake = SpanIntake(wait_s=1.0)
    http = {"gen_ai.operation.name": "", "http.request.method": "GET"}
    plain = wire.span("w:1", 0, 9, attributes=http)
    between = wire.span("t:h<a", 1, 4, attributes=http)
    inner = wire.model("t:m<h", 2, 3)
    taken(intake, export(plain, inner, between, wire.agent("t:a", 0, 5, **CONVERSATION)))
    (run,) = intake.settle(1.0)
    assert (run.run_id, names(run.events)) == ("c7", ["I see."])


def test_memory_is_bounded(wire: SimpleNamespace, export: MakeExport) -> None:
    """What is more than may wait need not wait: nothing is lost."""
    intake = SpanIntake(wait_s=1e9, most_bytes=350)
    for number in range(20):
        taken(intake, export(wire.tool(f"t:{number}", number, number + 1, f"tool{number}")))
    (run,) = intake.settle(0.0)
    assert intake.waiting == 3
    (rest,) = intake.finish()
    assert names(run.events) + names(rest.events) == [f"tool{number}" for number in range(20)]


def test_more_spans_than_may_wait(wire: SimpleNamespace, export: MakeExport) -> None:
    """Small ones, of few bytes: the first need not wait, and none is lost."""
    intake = SpanIntake(wait_s=1e9)
    for first in range(0, 12_000, 500):
        spans = (wire.tool(f"t:{number}", number, number + 1) for number in range(first, first + 500))
        taken(intake, export(*spans))
    (run,) = intake.settle(0.0)
    (rest,) = intake.finish()
    assert len(run.events) > 1_000
    assert len(run.events) + len(rest.events) == 12_000


def test_a_run_from_before(wire: SimpleNamespace) -> None:
    """What stands in the first context of a conversation that is known already is not told again."""
    call = {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "x"}}
    answer = {"type": "tool_call_response", "id": "c1", "response": "none"}
    context = json.dumps(
        [
            {"role": "user", "parts": [{"type": "text", "content": "Find it."}]},
            {"role": "assistant", "parts": [call]},
            {"role": "tool", "parts": [answer]},
        ]
    )
    spans = wire.request(wire.model("t:9", 9, 10, **CONVERSATION, **{"gen_ai.input.messages": context}))
    export = read_export(json.dumps(spans).encode(), JSON, SignalKind.TRACES)
    told = []
    for is_known in (False, True):
        intake = SpanIntake(wait_s=1.0, is_known=lambda run, is_known=is_known: is_known and run == "c7")
        taken(intake, export)
        told.append([type(event) for run in intake.settle(1.0) for event in run.events])
    assert told == [[Message, ToolCall, ModelCall], [ModelCall]]


@given(seed=st.integers(0, 10_000), pieces=st.integers(1, 6))
def test_any_order_within_the_wait(seed: int, pieces: int) -> None:
    """However spans are dealt to batches, the events are those of a file with all of them."""
    packed = (Path(__file__).parent / "exports" / "pydantic_ai-native-on.pb.gz").read_bytes()
    spans = list(read_export(unpacked(packed, "gzip", 1 << 20), PROTOBUF, SignalKind.TRACES).spans)
    reader = OtlpReader()
    whole = [*reader.take(spans, ()), *reader.finish()]
    Random(seed).shuffle(spans)  # noqa: S311
    intake = SpanIntake(wait_s=1.0)
    for piece in range(pieces):
        taken(intake, Export(spans=tuple(spans[piece::pieces])))
    (run,) = intake.settle(1.0)
    assert list(run.events) == whole


def test_ids_fit_a_path() -> None:
    """Two conversations never become one run."""
    ids = [run_id_of(name) for name in ("a/b", "a_b", "a\nb", "x" * 300, "x" * 301, "plain")]
    assert len(set(ids)) == len(ids)
    assert all(len(run_id) <= 200 and "/" not in run_id for run_id in ids)
