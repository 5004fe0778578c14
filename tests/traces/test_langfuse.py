"""Langfuse exports: real ones counted straight from the file, and the shapes of more frameworks."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.events.usage import Usage

TOOLS = {"TOOL", "RETRIEVER"}


def observation(number: str, kind: str, start: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": number,
        "traceId": "t",
        "type": kind,
        "name": kind.lower(),
        "parentObservationId": None,
        "startTime": f"2026-01-05T10:00:{start:02}.000Z",
        "endTime": f"2026-01-05T10:00:{start:02}.500Z",
        "level": "DEFAULT",
        **fields,
    }


def export(*observations: dict[str, Any]) -> bytes:
    return json.dumps({"trace": {"id": "t", "sessionId": "s"}, "observations": observations}).encode()


def generation(number: str, start: int, **fields: Any) -> dict[str, Any]:
    return observation(number, "GENERATION", start, model="m", **fields)


def shown(events: list[Event]) -> list[tuple[Any, ...]]:
    return [
        (type(call), call.name if isinstance(call, ToolCall) else getattr(call, "text", None))
        for call in events
    ]


@pytest.mark.parametrize(
    "name",
    [
        "autogen-2025-06-06",
        "langgraph-2025-08-22",
        "openai-agents-2025-09-30",
        "pydantic-ai-tools-2025-12-04",
    ],
)
def test_real_exports_agree_with_the_file(
    data: Path, name: str, calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """Generations, tools, tokens and cost are those of the file, though spans around repeat some of them."""
    path = data / "traces" / "langfuse" / f"{name}.json"
    wire = json.loads(path.read_text())["observations"]
    models = [item for item in wire if item["type"] == "GENERATION"]
    found = totals(calls(path, form="langfuse"))
    assert found["llm"] == len(models)
    # LangGraph's tool is typed SPAN; it is known by the message that it gives.
    assert found["tool"] == sum(item["type"] in TOOLS or item["name"] == "Web-Search" for item in wire)
    assert found["input_tokens"] == sum(item["usageDetails"]["input"] for item in models)
    assert found["output_tokens"] == sum(item["usageDetails"]["output"] for item in models)
    assert not found["cache_read_tokens"]
    assert found["cost_usd"] == sum(item["costDetails"]["total"] for item in models)


def test_the_last_answer_is_there_even_if_it_is_the_call_of_an_output_tool(
    data: Path, calls: Callable[..., list[Event]]
) -> None:
    """What a model asks for and nothing runs, where tools have spans, is its answer and no call of a tool."""
    found = calls(data / "traces" / "langfuse" / "pydantic-ai-tools-2025-12-04.json", form="langfuse")
    assert isinstance(found[-1], ModelCall)
    assert found[-1].text is not None
    assert json.loads(found[-1].text)["quality"] == "good"
    assert len({call.batch for call in found if isinstance(call, ToolCall)}) == 1


def test_sums_of_agents_do_not_count_again(read_data: Callable[..., Any]) -> None:
    """An agent, and a plain span around it, with tokens and cost of their own are sums over the model's."""
    spent = {
        "usageDetails": {"input": 10, "output": 5, "total": 15},
        "costDetails": {"total": 0.5},
        "totalCost": 0.5,
    }
    _, found = read_data(
        export(
            observation("root", "SPAN", 0, **spent, inputUsage=99),
            observation("agent", "AGENT", 1, parentObservationId="root", **spent),
            generation("g", 2, parentObservationId="agent", **spent, input="Hi", output="Hello"),
        )
    )
    assert [
        (type(call), (call.usage or Usage()).input_tokens, (call.usage or Usage()).cost_usd) for call in found
    ] == [
        (Message, None, None),
        (ModelCall, 10, 0.5),
    ]
    assert {call.chain_id for call in found} == {"s"}


def test_sums_count_where_no_model_tells(read_data: Callable[..., Any]) -> None:
    """An agent whose model has no span tells of the tokens once, and of the answer."""
    spent = {"usageDetails": {"input": 10, "output": 5}}
    _, found = read_data(
        export(
            observation("root", "SPAN", 0, **spent, output="Hello"),
            observation("a", "AGENT", 1, parentObservationId="root", **spent, input="Hi", output="Hello"),
        )
    )
    assert shown(found) == [(Message, "Hi"), (ModelCall, "Hello")]
    assert (found[1].usage or Usage()).input_tokens == 10


def test_a_wrapper_around_a_model_counts_once(read_data: Callable[..., Any]) -> None:
    """Two tracers tell of one call of a model; the inner one counts, with the words of the outer."""
    asked = {
        "role": "assistant",
        "tool_calls": [{"id": "c", "function": {"name": "look", "arguments": "{}"}}],
    }
    _, found = read_data(
        export(
            generation(
                "out", 1, usageDetails={"input": 20, "output": 10}, output={"choices": [{"message": asked}]}
            ),
            generation(
                "in",
                1,
                parentObservationId="out",
                usageDetails={"input": 10, "output": 5},
                input="user: Hi",
                output="",
            ),
            observation("t", "TOOL", 3, name="look", output="seen"),
        )
    )
    assert shown(found) == [(Message, "Hi"), (ModelCall, ""), (ToolCall, "look")]
    assert [(call.usage or Usage()).input_tokens for call in found if isinstance(call, ModelCall)] == [10]


CALL = {"type": "tool_call", "id": ["run", "call"], "name": "look", "arguments": {"at": "sea"}}
ANSWER = {"type": "tool_call_response", "id": ["run", "call"], "response": "waves"}
GEMINI = [
    {"role": "user", "parts": [{"text": "Hi"}]},
    {"role": "model", "parts": [{"function_call": {"name": "look", "args": {"at": "sea"}}}]},
    {"role": "user", "parts": [{"function_response": {"name": "look", "response": "waves"}}]},
]
IN_ROLE: list[Any] = [
    {"role": "user", "content": "Hi"},
    {
        "role": "tool",
        "content": [
            {"type": "function", "id": "c", "function": {"name": "look", "arguments": {"at": "sea"}}}
        ],
    },
    {"role": "tool", "content": "waves"},
]
LANGCHAIN = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [IN_ROLE[1]["content"][0]]}},
    {"role": "tool", "content": "waves", "tool_call_id": "c"},
    {"role": "tool", "content": {"type": "function", "function": {"name": "look", "parameters": {}}}},
]


@pytest.mark.parametrize(
    ("first", "asks", "second"),
    [
        (
            [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
            [{"role": "assistant", "parts": [CALL]}],
            [{"role": "assistant", "parts": [CALL]}, {"role": "tool", "parts": [ANSWER]}],
        ),
        ({"contents": GEMINI[:1]}, {"content": GEMINI[1]}, {"contents": GEMINI}),
        (IN_ROLE[:1], [{"role": "assistant", "content": IN_ROLE[1]["content"]}], IN_ROLE),
        (LANGCHAIN[:1], LANGCHAIN[1], LANGCHAIN),
    ],
    ids=[
        "genai parts, ids in lists",
        "gemini without ids",
        "calls in role tool",
        "langchain, tools on offer",
    ],
)
def test_calls_without_spans_come_from_the_messages(
    read_data: Callable[..., Any], first: Any, asks: Any, second: Any
) -> None:
    """A call that a model asks for and whose result the next inputs repeat is told once, with both."""
    last = {"role": "assistant", "content": "Waves."}
    _, found = read_data(
        export(
            generation("c", 5, input=second, output="Again."),
            generation("a", 1, input=first, output=asks),
            generation("b", 3, input=second, output=last),
        )
    )
    assert shown(found) == [
        (Message, "Hi"),
        (ModelCall, ""),
        (ToolCall, "look"),
        (ModelCall, "Waves."),
        (ModelCall, "Again."),
    ]
    assert (found[2].args, found[2].result) == ({"at": "sea"}, "waves")


def test_tools_typed_span_are_known(read_data: Callable[..., Any]) -> None:
    """By the attributes of their tracer, by the name that a model asked for, or by the prefix of a tracer."""
    asked = {"tool_calls": [{"id": "c", "function": {"name": "look", "arguments": '{"at": "sea"}'}}]}
    _, found = read_data(
        export(
            generation("a", 1, output={"role": "assistant", **asked}),
            observation(
                "b", "SPAN", 2, name="look", input={"args": [], "kwargs": {"at": "sea"}}, output="waves"
            ),
            observation(
                "c",
                "SPAN",
                3,
                name="x",
                metadata={"attributes": {"gen_ai.tool.name": "smell"}},
                output="salt",
            ),
            observation("d", "SPAN", 4, name="execute_tool hear", level="ERROR", statusMessage="deaf"),
            observation("e", "SPAN", 5, name="should_continue", output="end"),
        )
    )
    tools = [(call.name, call.args, call.result, call.error) for call in found if isinstance(call, ToolCall)]
    assert tools == [
        ("look", {"at": "sea"}, "waves", False),
        ("smell", None, "salt", False),
        ("hear", None, "deaf", True),
    ]


@pytest.mark.parametrize(
    ("usage", "classes"),
    [
        ({"input": 100, "output": 9, "total": 109, "prompt_details.cache_read": 40}, (60, 9, 40, None)),
        ({"input": 60, "output": 9, "total": 109, "input_cache_read": 40}, (60, 9, 40, None)),
        (
            {"input": 60, "output": 9, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 2},
            (60, 9, 40, 2),
        ),
        ({"input": 60, "output": 9, "output_reasoning": 5, "total": 74}, (60, 14, None, None)),
        ({"input": 60, "output": 9, "completion_details.reasoning": 5, "total": 69}, (60, 9, None, None)),
        ({"input": 100, "output": 9, "total": 149, "details.cache_read_tokens": 40}, (60, 9, 40, None)),
        ({"input": 100, "output": 9, "cache_read.input_tokens": 40}, (60, 9, 40, None)),
        ({"input": "60", "output": "9", "input_cached_tokens": "40"}, (60, 9, 40, None)),
        ({"input": 0, "output": 0, "total": 0}, (None, None, None, None)),
    ],
)
def test_classes_do_not_overlap(read_data: Callable[..., Any], usage: Any, classes: Any) -> None:
    """Whether cached and reasoning tokens are parts of the others, the total and the names tell."""
    _, (call,) = read_data(export(generation("a", 1, usageDetails=usage, output="x")))
    assert (
        (call.usage or Usage()).input_tokens,
        (call.usage or Usage()).output_tokens,
        (call.usage or Usage()).cache_read_tokens,
        (call.usage or Usage()).cache_write_tokens,
    ) == classes


def test_other_wrappings(read_data: Callable[..., Any]) -> None:
    """Lists of traces, observations one a line, usage and cost under older names; latency plays no part."""
    old = generation(
        "a", 1, inputUsage=3, outputUsage=4, calculatedTotalCost=0.25, totalCost=None, latency=1.5, output="x"
    )
    lines = b"\n".join(json.dumps({**old, "id": number}).encode() for number in "ab")
    for data in (
        json.dumps({"traces": [{"id": "t"}], "observations": [old]}).encode(),
        json.dumps([old]).encode(),
        json.dumps([{"id": "t", "observations": [old]}]).encode(),
        json.dumps({"data": [old], "meta": {"page": 1}}).encode(),
    ):
        trace, (call,) = read_data(data)
        assert (
            trace.format.name,
            (call.usage or Usage()).input_tokens,
            (call.usage or Usage()).output_tokens,
            (call.usage or Usage()).cost_usd,
        ) == (
            "langfuse",
            3,
            4,
            0.25,
        )
    trace, found = read_data(lines)
    assert (trace.format.name, len(found)) == ("langfuse", 2)


SPENT = {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}


@pytest.mark.parametrize(
    "fields",
    [
        {**SPENT, "totalCost": "0.25", "usageDetails": {}, "costDetails": {}},
        {"usage": {"input": 3, "output": 4, "unit": "TOKENS", "totalCost": 0.25}, "totalCost": None},
        {"usage": {**SPENT, "totalCost": 0.25}},
        {"usageDetails": '{"input": 3, "output": 4}', "costDetails": '{"input": 0.125, "output": 0.125}'},
        {"promptTokens": 3, "completionTokens": 4, "calculatedTotalCost": 0.25, "totalCost": 0},
        {"usage_details": {"input": 3, "output": 4}, "cost_details": {"total": 0.25}, "total_cost": 9},
        {"input_usage": 3, "output_usage": 4, "calculated_total_cost": "0.25"},
    ],
    ids=["table", "usage", "usage with names", "json", "older", "python", "python, older"],
)
def test_where_tokens_and_cost_stand(read_data: Callable[..., Any], fields: dict[str, Any]) -> None:
    """Details come first, then what older versions, tables and the Python client write."""
    told = generation("a", 1, output="x", **fields)
    told = {**told, "model": None, "providedModelName" if "usage" in fields else "provided_model_name": "m"}
    _, (call,) = read_data(export(told))
    assert (
        (call.usage or Usage()).input_tokens,
        (call.usage or Usage()).output_tokens,
        (call.usage or Usage()).cost_usd,
        (call.usage or Usage()).model,
    ) == (3, 4, 0.25, "m")


def test_traces_without_observations_are_refused(read_data: Callable[..., Any]) -> None:
    """A list of traces holds the ids of the observations only, and the message says what is missing."""
    traces = [{"id": "t", "name": "run", "totalCost": 0.5, "observations": ["a", "b"]}]
    with pytest.raises(TranscriptError, match="export the observations themselves"):
        read_data(json.dumps(traces).encode())


def test_the_message_of_a_tool_names_its_call(read_data: Callable[..., Any]) -> None:
    """Calls that end in another order than they were asked for each have their own arguments."""
    asks = [
        {"id": f"c{number}", "function": {"name": "look", "arguments": f'{{"n": {number}}}'}}
        for number in (1, 2)
    ]
    reply = {"role": "assistant", "content": "", "tool_calls": asks}
    looks = [
        observation(
            name,
            "TOOL",
            start,
            name="look",
            output={
                "id": ["langchain", "messages", "ToolMessage"],
                "kwargs": {"content": f"of {name}", "tool_call_id": name},
            },
        )
        for start, name in ((3, "c2"), (5, "c1"))
    ]
    _, events = read_data(export(generation("a", 1, input=[], output=reply), *looks))
    calls = [(event.args, event.result) for event in events if isinstance(event, ToolCall)]
    assert calls == [({"n": 2}, "of c2"), ({"n": 1}, "of c1")]
