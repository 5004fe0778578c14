"""Trees of spans made into events: order, sums, chains, memory, and what broken telemetry does."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import astuple, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, ToolCall, title
from ebbtide.events.provider_answer import ToolRequest
from ebbtide.events.usage import Usage
from ebbtide.traces.chats.message_parts import ToolAnswer
from ebbtide.traces.chats.message_shapes import ChatMessage
from ebbtide.traces.formats import FORMATS, Format
from ebbtide.traces.reading import Trace
from ebbtide.traces.telemetry.span import Span, SpanKind, usage_of
from ebbtide.traces.telemetry.spans import SpanEvents

USAGE = Usage(input_tokens=10, output_tokens=1)
SPOKEN = "langfuse langsmith openinference otlp autogen anthropic-messages chat".split()
READ = [form for form in FORMATS if form.name in SPOKEN]


def llm(number: str, start: float, **fields: Any) -> Span:
    fields = {"usage": USAGE, "end": start + 0.5, **fields}
    return Span(id=number, trace="t", kind=SpanKind.LLM, name="chat", start=start, **fields)


def tool(number: str, start: float, **fields: Any) -> Span:
    fields = {"name": "look", "end": start + 0.5, **fields}
    return Span(id=number, trace="t", kind=SpanKind.TOOL, start=start, **fields)


def agent(number: str, start: float, end: float, **fields: Any) -> Span:
    return Span(
        id=number, trace="t", kind=SpanKind.AGENT, name=number, start=start, end=end, agent=number, **fields
    )


def told(*spans: Span, most: int = 10_000) -> list[Event]:
    events = SpanEvents(most)
    return [call for span in spans for call in events.add(span)] + events.finish()


def says(words: str) -> list[ChatMessage]:
    return [ChatMessage(role="assistant", text=words)]


RUN = (
    agent("a", 0, 20, usage=Usage(input_tokens=30, output_tokens=3), outputs=says("Done.")),
    llm(
        "m1",
        1,
        parent="a",
        inputs=[ChatMessage(role="user", text="Hi")],
        outputs=[ChatMessage(role="assistant", requests=(ToolRequest(id="c", name="look"),))],
    ),
    tool("t1", 2, parent="a", call_id="c", end=9.0, result="waves"),
    agent("sub", 3, 8, parent="t1", usage=USAGE),
    llm("m2", 4, parent="sub", inputs=[ChatMessage(role="user", text="Why?")], outputs=says("Because.")),
    llm("m3", 10, parent="a", inputs=[ChatMessage(role="user", text="Hi")], outputs=says("Done.")),
)


@given(st.permutations(RUN))
def test_the_order_of_spans_does_not_matter(spans: list[Span]) -> None:
    """However spans come, each event comes once, in the order of its time, sums of agents left aside."""
    found = told(*spans)
    assert [
        (type(call), getattr(call, "text", None) or getattr(call, "result", None), call.chain_id, call.agent)
        for call in found
    ] == [
        (Message, "Hi", "t", None),
        (ModelCall, None, "t", "a"),
        (Message, "Why?", "t/t1", None),
        (ModelCall, "Because.", "t/t1", "sub"),
        (ToolCall, "waves", "t", "a"),
        (ModelCall, "Done.", "t", "a"),
    ]
    assert sum((call.usage or Usage()).input_tokens or 0 for call in found) == 30


def test_few_waiting_spans_are_enough_for_what_exporters_do() -> None:
    """Spans in the order of their ends wait only for those that overlap; who acts is told too late."""
    spans = sorted(RUN, key=lambda span: span.end or 0)
    few, all_at_once = (
        [
            (
                type(call),
                getattr(call, "text", None),
                getattr(call, "result", None),
                (call.usage or Usage()).input_tokens,
            )
            for call in told(*spans, most=most)
        ]
        for most in (4, 10_000)
    )
    assert few == all_at_once


def test_memory_is_bounded() -> None:
    """Very many spans of very many traces leave no more behind than the limits say."""
    events = SpanEvents(most=50)
    given = 0
    for number in range(20_000):
        trace = f"t{number // 4}"
        given += len(
            events.add(
                Span(
                    id=str(number),
                    trace=trace,
                    kind=SpanKind.LLM,
                    name="chat",
                    start=float(number),
                    usage=USAGE,
                    outputs=[
                        ChatMessage(role="assistant", requests=(ToolRequest(id=str(number), name="look"),))
                    ],
                )
            )
        )
    assert given > 15_000
    assert len(events._waiting) <= 50
    assert len(events._chains) <= 1_000
    assert len(events._ready) <= 5_000


def test_a_long_chain_stays_small() -> None:
    """Calls that are never answered do not pile up in one chain."""
    events = SpanEvents(most=10)
    found = []
    for number in range(5_000):
        asked = (ToolRequest(id=str(number), name="look", args={"n": number}),)
        found += events.add(
            llm(str(number), float(number), outputs=[ChatMessage(role="assistant", requests=asked)])
        )
    assert len(events._chains["t"]._queue) <= 1_001
    found += events.finish()
    assert sum(isinstance(call, ToolCall) for call in found) == 5_000
    assert sum(isinstance(call, ModelCall) for call in found) == 5_000


def test_a_span_that_comes_again_is_dropped() -> None:
    """Exporters send again what they are not sure of; it is counted as a duplicate."""
    events = SpanEvents(most=1)
    found = [
        call for span in (llm("a", 1), llm("b", 2), llm("a", 1), llm("c", 3)) for call in events.add(span)
    ]
    assert len(found + events.finish()) == 3
    assert events.duplicates == 1


def test_a_span_that_is_told_in_two_pieces() -> None:
    """The later piece counts, also where only it tells what the agent said."""
    events = SpanEvents()
    found = [call for words in ((), says("Done.")) for call in events.add(agent("a", 0, 9, outputs=words))]
    assert [call.text for call in found + events.finish()] == ["Done."]
    assert not events._waiting


def test_conversations_go_on_over_traces() -> None:
    """Traces of one conversation are one chain, and what it repeats of earlier traces is not told again."""
    heard = [ChatMessage(role="user", text="Hi")]
    found = told(
        llm("a", 1, conversation="c", inputs=heard, outputs=says("Yes?")),
        Span(
            id="b",
            trace="u",
            kind=SpanKind.LLM,
            name="chat",
            start=5.0,
            conversation="c",
            inputs=[*heard, *says("Yes?"), ChatMessage(role="user", text="Go on.")],
            outputs=says("So."),
        ),
    )
    assert [call.text for call in found] == ["Hi", "Yes?", "Go on.", "So."]
    assert {call.chain_id for call in found} == {"c"}


def test_a_context_that_goes_on_is_the_same_conversation() -> None:
    """Where every call of a model is a trace of its own, calls of tools are told once, in one chain."""
    hi, ask, answer = (
        ChatMessage(role="user", text="Hi"),
        ChatMessage(role="assistant", requests=(ToolRequest(id="c", name="look"),)),
        ChatMessage(role="tool", answers=(ToolAnswer(id="c", result="waves"),)),
    )
    contexts = [
        [hi],
        [hi, ask, answer],
        [hi, ask, answer, *says("Waves."), ChatMessage(role="user", text="And now?")],
    ]
    outputs = [[ask], says("Waves."), says("More waves.")]
    alone = [
        replace(llm("m", at, inputs=sent, outputs=received), trace=f"t{at}")
        for at, (sent, received) in enumerate(zip(contexts, outputs, strict=True))
    ]
    other = replace(llm("m", 9, inputs=[hi], outputs=says("Hello.")), trace="other")
    requests = [
        Span(id="r", trace=span.trace, kind=SpanKind.OTHER, name="POST", start=span.start) for span in alone
    ]
    inside = [replace(span, parent="r") for span in alone]
    assert told(*requests, *inside, other) == told(*alone, other)
    found = told(*alone, other)
    assert [(type(call), getattr(call, "text", None) or title(call), call.chain_id) for call in found] == [
        (Message, "Hi", "t0"),
        (ModelCall, "message", "t0"),
        (ToolCall, "look", "t0"),
        (ModelCall, "Waves.", "t0"),
        (Message, "And now?", "t0"),
        (ModelCall, "More waves.", "t0"),
        (Message, "Hi", "other"),
        (ModelCall, "Hello.", "other"),
    ]


def test_results_without_the_question() -> None:
    """A request that goes on with an earlier one holds results only; they belong to what was asked then."""
    found = told(
        llm("a", 1, outputs=[ChatMessage(role="assistant", requests=(ToolRequest(id="c", name="look"),))]),
        llm("b", 2, inputs=[ChatMessage(role="tool", answers=(ToolAnswer(id="c", result="waves"),))]),
    )
    assert [(call.name, call.result) for call in found if isinstance(call, ToolCall)] == [("look", "waves")]


@pytest.mark.parametrize("around", [SpanKind.AGENT, SpanKind.OTHER, SpanKind.LLM])
def test_what_only_outer_spans_tell_is_told_once(around: SpanKind) -> None:
    """Cost beside the agent, tokens beside the calls: no call is made up, nothing lost or counted twice."""
    outer = {"trace": "t", "kind": around, "usage": Usage(input_tokens=30), "cost_usd": 0.5}
    counted = [llm("m1", 1, parent="a"), llm("m2", 2, parent="a")]
    bare = [replace(span, usage=Usage()) for span in counted]
    for inner, tokens in ((counted, [10, 10]), (bare, [30, None])):
        found = told(Span(id="a", name="a", start=0, end=9, **outer), *inner)
        assert [
            ((call.usage or Usage()).input_tokens, (call.usage or Usage()).cost_usd) for call in found
        ] == [(tokens[0], 0.5), (tokens[1], None)]


def test_an_agents_answer_is_no_call_of_its_own() -> None:
    """Where calls of models are told, though without their words, an agent's answer adds none."""
    found = told(agent("a", 0, 9, outputs=says("Done.")), llm("m", 1, parent="a"))
    assert [(type(call), getattr(call, "text", None)) for call in found] == [(ModelCall, None)]


def test_steps_that_call_themselves_agents_are_silent() -> None:
    """One tracer writes every step of an agent as an agent beside its calls of models; it adds no event."""
    heard = [ChatMessage(role="user", text="{...}")]
    step = agent("s", 2, 3, parent="a", inputs=heard, outputs=says("..."))
    found = told(agent("a", 0, 9), llm("m", 1, parent="a", outputs=says("Done.")), step)
    assert [(type(call), getattr(call, "text", None)) for call in found] == [(ModelCall, "Done.")]


def test_chains_under_a_missing_root_are_silent() -> None:
    """The plumbing of a trace that was cut off says nothing that the models in it do not say."""
    heard = [ChatMessage(role="user", text="{...}")]
    step = Span(id="s", trace="t", kind=SpanKind.OTHER, name="step", parent="gone", start=0, inputs=heard)
    assert [type(call) for call in told(step, llm("m", 1, parent="gone"))] == [ModelCall]


def test_equal_words_of_a_user_count_as_often_as_they_are_said() -> None:
    """The second "go on" of a context is new the first time it is there, and no more."""
    once = [ChatMessage(role="user", text="Go on.")]
    found = told(llm("a", 1, inputs=once), llm("b", 2, inputs=once * 2), llm("c", 3, inputs=once * 2))
    assert sum(isinstance(call, Message) for call in found) == 2


def test_ids_that_models_use_again() -> None:
    """Three replies that call their calls "c" are three calls, with spans or without."""
    ask = [ChatMessage(role="assistant", requests=(ToolRequest(id="c", name="look"),))]
    reply = ChatMessage(role="tool", answers=(ToolAnswer(id="c", result="x"),))
    with_spans = [
        item
        for at in (1, 3, 5)
        for item in (llm(f"m{at}", at, outputs=ask), tool(f"t{at}", at + 1, call_id="c", result="x"))
    ]
    without = [llm(f"m{at}", at, inputs=[*ask, reply] * (at // 2), outputs=ask) for at in (1, 3, 5)]
    for spans in (with_spans, [*without, llm("m7", 7, inputs=[*ask, reply] * 3)]):
        assert [call.result for call in told(*spans) if isinstance(call, ToolCall)] == ["x"] * 3


def test_parallel_agents_in_one_chain_lose_no_call() -> None:
    """A call whose span comes after another agent's reply is still one call, as it was asked for."""
    ask = [ChatMessage(role="assistant", requests=(ToolRequest(id="c", name="look", args={"n": 1}),))]
    found = told(
        llm("m1", 1, outputs=ask), llm("m2", 2, outputs=says("Else.")), tool("t", 3, call_id="c", result="x")
    )
    assert [(type(call), getattr(call, "args", None)) for call in found] == [
        (ModelCall, None),
        (ModelCall, None),
        (ToolCall, {"n": 1}),
    ]


def test_spans_without_times_keep_their_order() -> None:
    """Order is all that is known, and the time is not."""
    found = told(*(Span(id=words, kind=SpanKind.LLM, name="x", outputs=says(words)) for words in "12"))
    assert [(call.text, call.ts) for call in found] == [("1", None), ("2", None)]


@pytest.mark.parametrize(
    ("told_as", "classes"),
    [
        ({"total_input": 100, "output": 5, "read": 40, "written": 10}, (50, 5, 40, 10)),
        ({"total_input": 100, "output": 5, "read": 40, "written": 10, "total": 105}, (50, 5, 40, 10)),
        ({"total_input": 100, "output": 5, "read": 40, "written": 10, "total": 155}, (100, 5, 40, 10)),
        ({"total_input": 10, "output": 5, "read": 40}, (10, 5, 40, None)),
        ({"total_input": "100", "output": None}, (100, None, None, None)),
    ],
)
def test_whether_cached_tokens_are_a_part(told_as: dict[str, Any], classes: tuple[int | None, ...]) -> None:
    """Cached tokens are a part of the input, unless the total or their size says that they cannot be."""
    assert astuple(usage_of(**told_as))[1:5] == classes


def traces(data: Path, samples: Path) -> Iterator[tuple[str, Path]]:
    for folder, name in (
        ("otel_genai", "otlp"),
        ("openinference", "openinference"),
        ("langfuse", "langfuse"),
        ("langsmith", "langsmith"),
        ("autogen_messages", "autogen"),
        ("openai_messages", "chat"),
    ):
        yield from ((name, path) for path in sorted((data / "traces" / folder).iterdir()))
    for pattern, name in (
        ("otlp_*", "otlp"),
        ("openinference_*", "openinference"),
        ("anthropic_*", "anthropic-messages"),
        ("openai_*", "chat"),
        ("autogen*", "autogen"),
    ):
        yield from ((name, path) for path in sorted(samples.glob(pattern)))


def test_each_format_takes_its_own_and_nobody_elses(data: Path, samples: Path) -> None:
    """The first format that takes a file is the right one, and reads all of it."""
    for name, path in traces(data, samples):
        trace = Trace.of(path.read_bytes(), source=path.name)
        list(trace)
        assert (trace.format.name, trace.fault_count, trace.late) == (name, 0, 0), path


def test_piece_by_piece_is_as_whole(data: Path, samples: Path) -> None:
    """A large JSON value is read record by record, with the same events."""
    for _, path in traces(data, samples):
        whole = list(Trace.of(path.read_bytes()))
        assert list(Trace.of(path.read_bytes(), whole_bytes=2_000)) == whole, path


ODD: tuple[Any, ...] = (
    None,
    0,
    -1,
    1.5,
    True,
    "",
    "x",
    "{",
    '["a"]',
    [],
    {},
    [[]],
    {"a": 1},
    10**30,
    1e300,
    {"role": "user"},
    ["human", "x"],
)


def mutated(value: Any, rng: Random) -> Any:
    if rng.random() < 0.02:
        return rng.choice(ODD)
    if isinstance(value, dict):
        return {key: mutated(item, rng) for key, item in value.items() if rng.random() > 0.02}
    if isinstance(value, list):
        return [mutated(item, rng) for item in value if rng.random() > 0.02]
    return value


def read_by(form: Format, records: list[Any]) -> list[Any]:
    reader = form.event_reader()
    found: list[Any] = []
    for record in records:
        try:
            found += reader.read(record, "")
        except TranscriptError:
            continue
    return found + list(reader.finish())


@settings(max_examples=30)
@given(rng=st.randoms(use_true_random=True))
def test_mutations_raise_nothing_else(data: Path, samples: Path, rng: Random) -> None:
    """Whatever is missing or odd in a file, readers give events that are sound, or say what is wrong."""
    _, path = rng.choice([entry for entry in traces(data, samples) if entry[1].stat().st_size < 100_000])
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    records = [mutated(json.loads(line), rng) for line in lines]
    for form in READ:
        for call in read_by(form, records):
            assert type(title(call)) is str
            assert getattr(call, "text", None) is None or type(getattr(call, "text", None)) is str
            assert all(
                tokens is None or (type(tokens) is int and tokens >= 0)
                for tokens in (
                    (call.usage or Usage()).input_tokens,
                    (call.usage or Usage()).output_tokens,
                    (call.usage or Usage()).cache_read_tokens,
                    (call.usage or Usage()).cache_write_tokens,
                )
            )
    cut = json.dumps(records[0]).encode()
    with suppress(TranscriptError):
        list(Trace.of(cut[: rng.randrange(1, len(cut) + 1)]))


def test_deep_nesting_is_a_fault(read_data: Callable[..., Any]) -> None:
    """Values in values beyond any reason are left out or said to be too deep."""
    deep = json.loads("[" * 300 + "]" * 300)
    for form in READ:
        read_by(
            form,
            [deep, {"messages": deep}, {"attributes": {"gen_ai.input.messages": deep, "gen_ai.system": "x"}}],
        )


@pytest.mark.parametrize(("result", "expected"), [("waves", "waves"), (None, "cut")])
def test_the_result_of_a_span_counts_before_that_of_an_input(result: str | None, expected: str) -> None:
    """A tool that no model asked for in a span: what the next input says of its result is a copy."""
    request = ChatMessage(role="assistant", requests=(ToolRequest(id="c", name="look"),))
    answer = ChatMessage(role="tool", answers=(ToolAnswer(id="c", result="cut"),))
    events = told(
        tool("t1", 1, call_id="c", result=result),
        llm("m1", 2, inputs=[request, answer], outputs=says("Done.")),
    )
    assert [event.result for event in events if isinstance(event, ToolCall)] == [expected]
