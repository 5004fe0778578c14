"""OTLP with the GenAI conventions: real spans of three frameworks, old and new names, every wrapping."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Event, Message, ModelCall, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.traces.telemetry.raw_spans import plain_attributes, plain_value

CITY = {"city": "Paris"}


def value(told: Any) -> dict[str, Any]:
    if isinstance(told, bool):
        return {"boolValue": told}
    if isinstance(told, int):
        return {"intValue": str(told)}
    if isinstance(told, float):
        return {"doubleValue": told}
    if isinstance(told, list):
        return {"arrayValue": {"values": [value(item) for item in told]}}
    if isinstance(told, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": value(item)} for key, item in told.items()]}}
    return {"stringValue": told}


def span(number: str, start: int, attributes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": number,
        "parentSpanId": "",
        "name": number,
        "startTimeUnixNano": str(1_767_607_200_000_000_000 + start * 1_000_000_000),
        "endTimeUnixNano": 1_767_607_200_500_000_000 + start * 1_000_000_000,
        "attributes": [{"key": key, "value": value(told)} for key, told in attributes.items()],
        "status": {},
        **fields,
    }


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def counted(wire: list[dict[str, Any]], operation: str, *names: str) -> int:
    """The sum of the first of the names, over the spans of one operation."""
    told = [item for item in wire if item.get("gen_ai.operation.name") == operation]
    return sum(next((item[name] for name in names if name in item), 0) for item in told)


def test_real_files_agree(
    data: Path, calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """Attributes alone, under new and deprecated names: one call of a model each, or one of a tool."""
    for path in sorted((data / "traces" / "otel_genai").glob("*.json")):
        wire = json.loads(path.read_text())
        found = totals(calls(path, form="otlp"))
        chat = wire["gen_ai.operation.name"] == "chat"
        asked = json.dumps(wire).count("tool_call_response") // 2 if "gen_ai.input.messages" in wire else 1
        assert (found["llm"], found["tool"], found["user"]) == (chat, asked if chat else 1, chat)
        assert found["input_tokens"] == wire.get("gen_ai.usage.input_tokens")
        assert found["output_tokens"] == wire.get("gen_ai.usage.output_tokens")


@pytest.mark.parametrize("name", ["otlp_pydantic_ai.jsonl", "otlp_pydantic_ai_old.jsonl"])
def test_pydantic_ai(
    samples: Path, name: str, calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """Agents' sums are left aside, a failed tool says so, and an agent behind a tool has its own chain."""
    lines = [json.loads(line) for line in (samples / name).read_text().splitlines()]
    wire = [
        plain_attributes(item["attributes"])
        for line in lines
        for group in line["resourceSpans"]
        for scope in group["scopeSpans"]
        for item in scope["spans"]
    ]
    found = calls(name, form="otlp")
    counts = totals(found)
    assert counts["llm"] == sum(item.get("gen_ai.operation.name") == "chat" for item in wire) == 7
    assert counts["tool"] == sum("gen_ai.tool.call.id" in item for item in wire) == 6
    assert counts["input_tokens"] == counted(wire, "chat", "gen_ai.usage.input_tokens")
    assert counts["output_tokens"] == counted(wire, "chat", "gen_ai.usage.output_tokens")
    main, *others = dict.fromkeys(call.chain_id for call in found)
    assert [other.partition("/")[0] for other in others] == [main]
    assert [
        (call.name, call.result) for call in found if call.chain_id == main and isinstance(call, ToolCall)
    ] == [
        ("get_weather", "rain"),
        ("fail", "no good"),
        ("get_weather", "rain"),
        ("get_weather", "rain"),
        ("ask_sub", "because"),
    ]
    assert [title(call) for call in found if getattr(call, "error", False)] == ["fail"]
    assert {call.agent for call in found if not isinstance(call, Message)} == {"weather", "sub"}
    assert (found[-1].text, found[-1].chain_id) == ("It rains.", main)
    assert found == sorted(found, key=lambda call: call.ts or 0)


def test_strands(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """Arguments and results stand in events only, cache tokens under two names; agents repeat the sums."""
    found = calls("otlp_strands.jsonl", form="otlp")
    assert totals(found) == {
        "tool": 3,
        "llm": 4,
        "user": 2,
        "input_tokens": 4 * (100 - 40),
        "output_tokens": 4 * 10,
        "cache_read_tokens": 4 * 40,
        "cache_write_tokens": 0,
        "cost_usd": None,
    }
    tools = [call for call in found if isinstance(call, ToolCall)]
    assert [(call.args, call.result) for call in tools] == [(CITY, "rain in Paris")] * 3
    assert found[-1].text == "It rains."


MODEL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
SPANS = (
    span(
        "b",
        2,
        {**TOOL, "gen_ai.tool.call.arguments": CITY, "gen_ai.tool.call.result": "rain"},
        parentSpanId="r",
    ),
    span(
        "a", 1, {**MODEL, "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 2}, parentSpanId="r"
    ),
    span("r", 0, {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 7}),
)


@pytest.mark.parametrize(
    "wire",
    [
        json.dumps(export(*SPANS)),
        json.dumps(export(*SPANS), indent=1),
        "\n".join(json.dumps(export(item)) for item in SPANS),
        json.dumps({"batches": export(*SPANS)["resourceSpans"]}),
        json.dumps({"trace": export(*SPANS)}),
        json.dumps([export(*SPANS[:2]), export(*SPANS[2:])]),
        json.dumps(SPANS),
        "\n".join(map(json.dumps, SPANS)),
        json.dumps(
            {"spans": [{**item, "attributes": plain_attributes(item["attributes"])} for item in SPANS]}
        ),
        json.dumps(
            {
                "data": [
                    {
                        "traceID": "5b8efff798038103d269b633813fc60c",
                        "spans": [
                            {
                                "traceID": "5b8efff798038103d269b633813fc60c",
                                "spanID": item["spanId"],
                                "operationName": item["name"],
                                "references": [{"refType": "CHILD_OF", "spanID": item["parentSpanId"]}],
                                "startTime": int(item["startTimeUnixNano"]) // 1000,
                                "duration": 500_000,
                                "tags": [
                                    {"key": key, "type": "string", "value": told}
                                    for key, told in plain_attributes(item["attributes"]).items()
                                ],
                            }
                            for item in SPANS
                        ],
                    }
                ]
            }
        ),
    ],
    ids="export indented lines batches trace exports list spans-in-lines spans jaeger".split(),
)
def test_every_wrapping(read_data: Callable[..., Any], wire: str) -> None:
    """Spans are the same in every wrapping: in order, with the times of their ends, sums left aside."""
    trace, found = read_data(wire.encode())
    assert (trace.format.name, trace.fault_count) == ("otlp", 0)
    assert [
        (
            type(call),
            title(call),
            getattr(call, "args", None),
            getattr(call, "result", None),
            (call.usage or Usage()).input_tokens,
            call.ts,
        )
        for call in found
    ] == [
        (ModelCall, "message", None, None, 7, 1_767_607_201.5),
        (ToolCall, "look", CITY, "rain", None, 1_767_607_202.5),
    ]
    assert {call.chain_id for call in found} == {"5b8efff798038103d269b633813fc60c"}


@pytest.mark.parametrize(
    "names",
    [
        ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.cache_read.input_tokens"),
        (
            "gen_ai.usage.prompt_tokens",
            "gen_ai.usage.completion_tokens",
            "gen_ai.usage.cache_read_input_tokens",
        ),
        ("llm.usage.prompt_tokens", "llm.usage.completion_tokens", "gen_ai.usage.details.cache_read_tokens"),
        ("ai.usage.promptTokens", "ai.usage.completionTokens", "ai.usage.cachedInputTokens"),
        (
            "gen_ai.aggregated_usage.input_tokens",
            "gen_ai.aggregated_usage.output_tokens",
            "gen_ai.usage.cached_tokens",
        ),
    ],
)
def test_names_of_tokens(read_data: Callable[..., Any], names: tuple[str, str, str]) -> None:
    """Old, new and other libraries' names of the same numbers."""
    _, (call,) = read_data(
        json.dumps(export(span("a", 1, {**MODEL, **dict(zip(names, (50, 9, 20), strict=True))}))).encode()
    )
    assert (
        (call.usage or Usage()).input_tokens,
        (call.usage or Usage()).output_tokens,
        (call.usage or Usage()).cache_read_tokens,
    ) == (30, 9, 20)


FLAT = {
    "llm.request.type": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": "Hi",
    "gen_ai.prompt.1.role": "assistant",
    "gen_ai.prompt.1.tool_calls.0.id": "c",
    "gen_ai.prompt.1.tool_calls.0.name": "look",
    "gen_ai.prompt.1.tool_calls.0.arguments": '{"city": "Paris"}',
    "gen_ai.prompt.2.role": "tool",
    "gen_ai.prompt.2.tool_call_id": "c",
    "gen_ai.prompt.2.content": "rain",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "It rains.",
}
SDK = {
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.model.id": "m",
    "ai.prompt.messages": json.dumps(
        [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "look", "args": CITY}],
            },
            {
                "role": "tool",
                "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "look", "result": "rain"}],
            },
        ]
    ),
    "ai.response.text": "It rains.",
}
EVENTS = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "x",
    "events": json.dumps(
        [
            {"event.name": "gen_ai.user.message", "content": "Hi", "role": "user"},
            {
                "event.name": "gen_ai.assistant.message",
                "role": "assistant",
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "look", "arguments": CITY}}
                ],
            },
            {"event.name": "gen_ai.tool.message", "role": "tool", "id": "c", "content": "rain"},
            {
                "event.name": "gen_ai.choice",
                "index": 0,
                "message": {"role": "assistant", "content": "It rains."},
            },
        ]
    ),
}


@pytest.mark.parametrize("attributes", [FLAT, SDK, EVENTS], ids=["lists in keys", "ai sdk", "events inside"])
def test_messages_in_other_forms(read_data: Callable[..., Any], attributes: dict[str, Any]) -> None:
    """Messages spread over attributes or written as events, with a call that nobody else tells of."""
    _, found = read_data(json.dumps(export(span("a", 1, attributes))).encode())
    assert [
        (type(call), getattr(call, "text", None), getattr(call, "args", None), getattr(call, "result", None))
        for call in found
    ] == [
        (Message, "Hi", None, None),
        (ToolCall, None, CITY, "rain"),
        (ModelCall, "It rains.", None, None),
    ]


def test_failures(read_data: Callable[..., Any]) -> None:
    """A status of 2, its name, or an error type; the reason is the answer where there is none."""
    _, found = read_data(
        json.dumps(
            export(
                span("a", 1, TOOL, status={"code": 2, "message": "no eyes"}),
                span("b", 2, {**TOOL, "error.type": "timeout"}),
                span("c", 3, MODEL, status={"code": "STATUS_CODE_ERROR", "message": "slow down"}),
                span("d", 4, TOOL, status={"code": 1}),
            )
        ).encode()
    )
    assert [
        (type(call), call.error, getattr(call, "result", None), getattr(call, "text", None)) for call in found
    ] == [
        (ToolCall, True, "no eyes", None),
        (ToolCall, True, "timeout", None),
        (ModelCall, True, None, "slow down"),
        (ToolCall, False, None, None),
    ]


def test_what_is_no_export_is_refused(read_data: Callable[..., Any]) -> None:
    """Spans of something else alone are no trace of an agent; inside an export they give nothing."""
    plain = span("p", 1, {"http.method": "GET"})
    trace, found = read_data(json.dumps(export(plain)).encode())
    assert (trace.format.name, found) == ("otlp", [])
    trace, found = read_data(
        "\n".join(map(json.dumps, (export(SPANS[1]), 7, [], "x", export(plain)))).encode()
    )
    assert (len(found), trace.fault_count) == (1, 2)


def chat(number: str, start: int, **attributes: Any) -> dict[str, Any]:
    return span(
        number, start, {**MODEL, **{key.replace("__", "."): told for key, told in attributes.items()}}
    )


def log(number: str, name: str, body: dict[str, Any], *, old: bool = True) -> dict[str, Any]:
    record = {"traceId": SPANS[0]["traceId"], "spanId": number, "timeUnixNano": SPANS[0]["startTimeUnixNano"]}
    told = {"body": value(body), "attributes": [{"key": "event.name", "value": value(name)}]}
    new = {
        "eventName": name,
        "attributes": [{"key": key, "value": value(item)} for key, item in body.items()],
    }
    return {
        "resourceLogs": [{"scopeLogs": [{"scope": {}, "logRecords": [{**record, **(told if old else new)}]}]}]
    }


ASKING = {
    "index": 0,
    "message": {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
}
DETAILS = {
    "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
    "gen_ai.output.messages": [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "look", "arguments": {}}]}
    ],
    "gen_ai.usage.input_tokens": 7,
}


@pytest.mark.parametrize(
    "records",
    [
        [log("a", "gen_ai.user.message", {"content": "Hi"}), log("a", "gen_ai.choice", ASKING), "span"],
        ["span", log("a", "gen_ai.user.message", {"content": "Hi"}), log("a", "gen_ai.choice", ASKING)],
        [log("a", "gen_ai.client.inference.operation.details", DETAILS, old=False), "span"],
        [log("a", "gen_ai.client.inference.operation.details", DETAILS, old=False)],
    ],
    ids=["logs first", "span first", "details", "details alone"],
)
def test_logged_events(read_data: Callable[..., Any], records: list[Any]) -> None:
    """Messages that were logged belong to their span, whichever comes first; without spans they are all."""
    model = export(chat("a", 1, gen_ai__usage__input_tokens=7))
    data = "\n".join(json.dumps(model if item == "span" else item) for item in records)
    trace, found = read_data(data.encode())
    assert trace.format.name == "otlp"
    assert [
        (type(call), title(call), getattr(call, "text", None), (call.usage or Usage()).input_tokens)
        for call in found
    ] == [
        (Message, "message", "Hi", None),
        (ModelCall, "message", "", 7),
        (ToolCall, "look", None, None),
    ]


def test_events_that_hold_json(read_data: Callable[..., Any]) -> None:
    """Azure's tracing writes all of an event into one of its attributes."""
    content = [
        ("gen_ai.user.message", {"content": "Hi"}),
        ("gen_ai.choice", {"message": {"content": "Yes?"}, "finish_reason": "stop"}),
    ]
    events = [
        {"name": name, "attributes": [{"key": "gen_ai.event.content", "value": value(json.dumps(told))}]}
        for name, told in content
    ]
    _, found = read_data(json.dumps(export({**chat("a", 1), "events": events})).encode())
    assert [(type(call), getattr(call, "text", None)) for call in found] == [
        (Message, "Hi"),
        (ModelCall, "Yes?"),
    ]


def test_what_is_told_again(read_data: Callable[..., Any]) -> None:
    """A merged answer of tools, the making of an agent and instructions beside the messages add nothing."""
    system = [{"type": "text", "content": "Be brief."}]
    messages = [
        {"role": "system", "parts": system},
        {"role": "user", "parts": [{"type": "text", "content": "Hi"}]},
    ]
    _, found = read_data(
        json.dumps(
            export(
                span(
                    "m",
                    0,
                    {"gen_ai.operation.name": "create_agent", "gen_ai.system_instructions": "Be brief."},
                ),
                chat(
                    "a",
                    1,
                    gen_ai__input__messages=json.dumps(messages),
                    gen_ai__system_instructions=json.dumps(system),
                ),
                span("t", 2, TOOL),
                span("u", 3, {**TOOL, "gen_ai.tool.name": "(merged tools)"}),
            )
        ).encode()
    )
    assert [(type(call), title(call)) for call in found] == [
        (Message, "instructions"),
        (Message, "message"),
        (ModelCall, "message"),
        (ToolCall, "look"),
    ]


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        (
            {
                "langfuse.observation.type": "generation",
                "langfuse.observation.model.name": "m",
                "langfuse.observation.input": '[{"role": "user", "content": "Hi"}]',
                "langfuse.observation.output": '{"role": "assistant", "content": "Yes?"}',
                "langfuse.observation.usage_details": '{"input": 30, "input_cached_tokens": 20, "output": 9}',
                "langfuse.observation.cost_details": '{"input": 0.25, "output": 0.5}',
            },
            (30, 9, 20, 0.75),
        ),
        (
            {
                "langsmith.span.kind": "llm",
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "m",
                "gen_ai.prompt": '{"messages": [{"role": "user", "content": "Hi"}]}',
                "gen_ai.completion": '{"choices": [{"message": {"role": "assistant", "content": "Yes?"}}]}',
                "gen_ai.usage.input_tokens": 50,
                "gen_ai.usage.output_tokens": 9,
                "gen_ai.usage.cache_read_tokens": 20,
                "gen_ai.usage.input_cost": 0.25,
                "gen_ai.usage.output_cost": "0.5",
            },
            (30, 9, 20, 0.75),
        ),
    ],
    ids=["langfuse", "langsmith"],
)
def test_exporters_of_other_tools(
    read_data: Callable[..., Any], attributes: dict[str, Any], told: tuple[Any, ...]
) -> None:
    """Langfuse's and LangSmith's own attributes, tokens and dollars by class; what is no model stays out."""
    prompt = {"langsmith.span.kind": "prompt", "gen_ai.operation.name": "chat", "gen_ai.prompt": "{}"}
    plain = {"langfuse.observation.type": "span", "langfuse.observation.input": "x"}
    _, found = read_data(
        json.dumps(
            export(
                span("a", 1, attributes, parentSpanId="r"),
                span("p", 2, prompt, parentSpanId="r"),
                span("q", 3, plain, parentSpanId="r"),
            )
        ).encode()
    )
    assert [(type(call), getattr(call, "text", None)) for call in found] == [
        (Message, "Hi"),
        (ModelCall, "Yes?"),
    ]
    call = found[1]
    assert (
        (call.usage or Usage()).input_tokens,
        (call.usage or Usage()).output_tokens,
        (call.usage or Usage()).cache_read_tokens,
        (call.usage or Usage()).cost_usd,
    ) == told


def test_the_sum_of_several_steps(read_data: Callable[..., Any]) -> None:
    """The AI SDK's outer span tells the sum over its calls, whether those are in the file or not."""
    whole = {"ai.operationId": "ai.generateText", "ai.model.id": "m", "ai.usage.inputTokens": 14}
    step = {"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "m", "ai.usage.inputTokens": 7}
    outer = span("r", 0, {**whole, "ai.response.text": "So."}, endTimeUnixNano="1767607209000000000")
    inner = [span(number, at, step, parentSpanId="r") for at, number in enumerate("ab", start=1)]
    for spans, tokens in (([*inner, outer], [7, 7]), ([outer], [14])):
        _, found = read_data(json.dumps(export(*spans)).encode())
        assert [(type(call), (call.usage or Usage()).input_tokens) for call in found] == [
            (ModelCall, number) for number in tokens
        ]


def test_results_in_the_wrapping_of_a_callback(read_data: Callable[..., Any]) -> None:
    """OpenLLMetry keeps all that LangChain's callbacks were given; the call is what is inside."""
    message = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "ToolMessage"],
        "kwargs": {"content": "rain", "type": "tool", "tool_call_id": "c"},
    }
    told = {
        "gen_ai.tool.call.arguments": json.dumps(
            {"input_str": "{'city': 'Paris'}", "tags": [], "metadata": {}, "inputs": CITY}
        ),
        "gen_ai.tool.call.result": json.dumps({"output": message, "kwargs": {"name": "look"}}),
    }
    _, (call,) = read_data(json.dumps(export(span("t", 1, {**TOOL, **told}))).encode())
    assert (call.args, call.result) == (CITY, "rain")


SIMPLE = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 7}
AROUND = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 7}


@pytest.mark.parametrize(
    "wire",
    [
        [
            {
                "traceId": "t",
                "id": "a",
                "parentId": "r",
                "timestamp": 1_767_607_200_000_000,
                "duration": 500_000,
            },
            {"traceId": "t", "id": "r", "timestamp": 1_767_607_200_000_000, "duration": 900_000},
        ],
        [
            {
                "_spanContext": {"traceId": "t", "spanId": "a"},
                "parentSpanContext": {"traceId": "t", "spanId": "r"},
                "startTime": [1_767_607_200, 0],
                "endTime": [1_767_607_200, 500_000_000],
            },
            {"_spanContext": {"traceId": "t", "spanId": "r"}, "startTime": [1_767_607_200, 0]},
        ],
        [
            {
                "traceId": "dA==",
                "spanId": "YWFhYWFhYWE=",
                "parentSpanId": "cnJycnJycnI=",
                "endTimeUnixNano": "1767607200500000000",
            },
            {"traceId": "dA==", "spanId": "cnJycnJycnI=", "parentSpanId": "AAAAAAAAAAA="},
        ],
        [
            {
                "trace_id": "t",
                "span_id": "a",
                "parent_span_id": "r",
                "end_timestamp": "2026-01-05T10:00:00.5Z",
            },
            {"trace_id": "t", "span_id": "r", "start_timestamp": "2026-01-05T10:00:00Z"},
        ],
    ],
    ids=["ids and microseconds", "javascript", "base64", "rows"],
)
def test_every_form_of_ids_and_times(read_data: Callable[..., Any], wire: list[dict[str, Any]]) -> None:
    """The tree is known, so an agent's sum is left aside; the time is that of the end."""
    inner, outer = wire
    spans = [{**inner, "name": "a", "attributes": SIMPLE}, {**outer, "name": "r", "attributes": AROUND}]
    for data in (json.dumps(spans), "\n".join(map(json.dumps, spans))):
        _, found = read_data(data.encode())
        assert [((call.usage or Usage()).input_tokens, call.ts) for call in found] == [(7, 1_767_607_200.5)]


def test_spans_of_gos_console_exporter(read_data: Callable[..., Any]) -> None:
    """It has names of its own for everything, and the type of a value beside it."""

    def written(number: str, parent: str, told: dict[str, Any], code: str = "Unset") -> dict[str, Any]:
        return {
            "Name": number,
            "SpanContext": {"TraceID": "t", "SpanID": number},
            "Parent": {"TraceID": "t", "SpanID": parent},
            "StartTime": "2026-01-05T10:00:00Z",
            "EndTime": "2026-01-05T10:00:00.5Z",
            "Attributes": [{"Key": key, "Value": {"Type": "X", "Value": item}} for key, item in told.items()],
            "Events": [{"Name": "exception", "Attributes": []}],
            "Status": {"Code": code, "Description": "no eyes" if code == "Error" else ""},
        }

    spans = [
        written("a", "r", SIMPLE),
        written("t", "r", TOOL, "Error"),
        written("r", "0000000000000000", AROUND),
    ]
    _, found = read_data("\n".join(map(json.dumps, spans)).encode())
    assert [
        (
            title(call),
            (call.usage or Usage()).input_tokens,
            getattr(call, "error", None),
            getattr(call, "result", None),
        )
        for call in found
    ] == [
        ("message", 7, False, None),
        ("look", None, True, "no eyes"),
    ]


def test_typed_values_in_a_plain_list() -> None:
    """A list without a type of its own holds typed values, plain ones, and lists of either."""
    assert plain_value([{"stringValue": "a"}, 1, [{"intValue": "2"}]]) == ["a", 1, [2]]
