"""OpenInference: real spans of LangGraph, flat and nested attributes, and both conventions in one file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Event, Message, ModelCall, ToolCall, title
from ebbtide.events.usage import Usage


def span(
    number: str, start: int, kind: str, attributes: dict[str, Any], parent: str | None = None
) -> dict[str, Any]:
    return {
        "name": number,
        "context": {"trace_id": "0xab", "span_id": f"0x{number}"},
        "parent_id": parent and f"0x{parent}",
        "start_time": f"2026-01-05T10:00:{start:02}.000000Z",
        "end_time": f"2026-01-05T10:00:{start:02}.500000Z",
        "status": {"status_code": "OK"},
        "attributes": {"openinference.span.kind": kind, **attributes} if kind else attributes,
    }


def test_real_files_agree(
    data: Path, calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """One call of a model with the tokens of the file, and the one call of a tool that its inputs tell of."""
    for path in sorted((data / "traces" / "openinference").glob("*.json")):
        wire = json.loads(path.read_text())
        found = totals(calls(path, form="openinference"))
        assert (found["llm"], found["tool"], found["user"]) == (1, 1, 1)
        assert found["input_tokens"] == wire["llm.token_count.prompt"]
        assert found["output_tokens"] == wire["llm.token_count.completion"]


def test_langgraph(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """Nodes called "agent" and the graph repeat messages; tools have spans, one of which failed.

    Spans between the model and the graph are missing here, as after filtering.
    """
    found = calls("openinference_langgraph.json", form="openinference")
    assert totals(found) == {
        "tool": 4,
        "llm": 4,
        "user": 1,
        "input_tokens": 4 * 70,
        "output_tokens": 4 * 10,
        "cache_read_tokens": 4 * 30,
        "cache_write_tokens": None,
        "cost_usd": None,
    }
    tools = [call for call in found if isinstance(call, ToolCall)]
    assert [call.name for call in tools if call.error] == ["boom"]
    assert {(call.name, call.result) for call in tools if not call.error} == {("get_weather", "rain")}
    assert found[-1].text == "It rains."
    assert {call.chain_id for call in found} == {"S1"}


ASKED = {
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"at": "sea"}',
}


def test_cost_and_classes(read_data: Callable[..., Any]) -> None:
    """Costs are read, cached tokens are a part of the prompt, and numbers may be texts."""
    told = {
        "llm.token_count.prompt": "100",
        "llm.token_count.completion": 9,
        "llm.token_count.prompt_details.cache_read": 40,
        "llm.token_count.prompt_details.cache_write": 10,
        "llm.cost.total": 0.25,
        "llm.model_name": "m",
        "session.id": "S",
    }
    _, (call,) = read_data(json.dumps([span("a", 1, "LLM", told)]).encode())
    assert (
        (call.usage or Usage()).input_tokens,
        (call.usage or Usage()).output_tokens,
        (call.usage or Usage()).cache_read_tokens,
        (call.usage or Usage()).cache_write_tokens,
    ) == (
        50,
        9,
        40,
        10,
    )
    assert ((call.usage or Usage()).cost_usd, (call.usage or Usage()).model, call.chain_id) == (
        0.25,
        "m",
        "S",
    )


@pytest.mark.parametrize("nested", [False, True], ids=["flat", "nested"])
def test_asked_for_and_run_is_one_call(read_data: Callable[..., Any], nested: bool) -> None:
    """A span of a tool without an id is the call that the model asked for, whatever it does not tell."""
    asked = (
        {
            "llm": {
                "output_messages": [
                    {
                        "message": {
                            "tool_calls": [
                                {
                                    "tool_call": {
                                        "id": "c",
                                        "function": {"name": "look", "arguments": '{"at": "sea"}'},
                                    }
                                }
                            ]
                        }
                    }
                ]
            }
        }
        if nested
        else ASKED
    )
    run = (
        {"tool": {"name": "look"}, "output": {"value": "waves"}}
        if nested
        else {"tool.name": "look", "output.value": "waves"}
    )
    trace, found = read_data(
        "\n".join(map(json.dumps, [span("b", 2, "TOOL", run), span("a", 1, "LLM", asked)])).encode()
    )
    assert trace.format.name == "openinference"
    assert [(type(call), getattr(call, "args", None), getattr(call, "result", None)) for call in found] == [
        (ModelCall, None, None),
        (ToolCall, {"at": "sea"}, "waves"),
    ]


def test_both_conventions_in_one_file(read_data: Callable[..., Any]) -> None:
    """A tool and a model that two instrumentations tell of, one inside the other, are told once."""
    genai = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5, "gen_ai.completion": "Waves."}
    inner = span("b", 1, "", genai, "a")
    tool = span("d", 3, "", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}, "c")
    wire = [
        span("a", 1, "LLM", {"llm.token_count.prompt": 5, "llm.model_name": "m"}),
        inner,
        span("c", 3, "TOOL", {"tool.name": "look", "output.value": "waves"}),
        tool,
    ]
    _, found = read_data(json.dumps(wire).encode())
    assert [
        (
            type(call),
            getattr(call, "text", None),
            getattr(call, "result", None),
            (call.usage or Usage()).input_tokens,
        )
        for call in found
    ] == [
        (ModelCall, "Waves.", None, 5),
        (ToolCall, None, "waves", None),
    ]


def test_retrievers_and_embeddings(read_data: Callable[..., Any]) -> None:
    """Searches are calls of tools; embeddings spend tokens and say nothing."""
    _, found = read_data(
        json.dumps(
            [
                span("a", 1, "EMBEDDING", {"llm.token_count.prompt": 3, "embedding.model_name": "e"}),
                span("b", 2, "RETRIEVER", {"input.value": "sea", "output.value": "docs"}),
                span("c", 3, "CHAIN", {"output.value": "not an answer"}),
            ]
        ).encode()
    )
    assert [(type(call), title(call), (call.usage or Usage()).input_tokens) for call in found][:2] == [
        (ModelCall, "embeddings", 3),
        (ToolCall, "b", None),
    ]


def test_rows_of_a_table(read_data: Callable[..., Any]) -> None:
    """Exported tables have the attributes in columns, and say the kind of a span twice."""
    rows = [
        {
            "name": "look",
            "span_kind": "TOOL",
            "parent_id": None,
            "context.trace_id": "ab",
            "context.span_id": "1",
            "start_time": "2026-01-05T10:00:00Z",
            "end_time": "2026-01-05T10:00:01Z",
            "status_code": "ERROR",
            "status_message": "no eyes",
            "attributes.openinference.span.kind": "TOOL",
        }
    ]
    trace, (call,) = read_data(json.dumps(rows).encode())
    assert trace.format.name == "openinference"
    assert (title(call), call.result, call.error, call.chain_id, call.ts) == (
        "look",
        "no eyes",
        True,
        "ab",
        1767607201.0,
    )


def table() -> dict[str, dict[str, Any]]:
    """Columns of a table of spans, as a data frame holds them: a model, a tool and the agent around them."""
    rows = [
        (
            "m",
            "LLM",
            "a",
            {"llm.token_count.prompt": 7.0, "llm.cost.prompt": 0.25, "llm.cost.completion": 0.5},
        ),
        ("t", "TOOL", "a", {"tool.name": "look", "output.value": "waves"}),
        ("a", "AGENT", None, {"llm.token_count.prompt": 7.0}),
    ]
    asked = {"tool_call.function.name": "look", "tool_call.function.arguments": '{"at": "sea"}'}
    rows[0][3]["llm.input_messages"] = [{"message.role": "user", "message.content": "Hi"}]
    rows[0][3]["llm.output_messages"] = [{"message.role": "assistant", "message.tool_calls": [asked]}]
    columns: dict[str, dict[str, Any]] = {}
    names = sorted({name for *_, attributes in rows for name in attributes})
    for at, (number, kind, parent, attributes) in enumerate(rows):
        row = {
            "name": number,
            "span_kind": kind,
            "parent_id": parent,
            "start_time": 1_767_607_200_000 + at,
            "end_time": 1_767_607_201_000 + at,
            "context.span_id": number,
            "context.trace_id": "t",
            **{f"attributes.{name}": attributes.get(name) for name in names},
        }
        for name, told in row.items():
            columns.setdefault(name, {})[number] = told
    return columns


def test_tables_of_spans(read_data: Callable[..., Any]) -> None:
    """Phoenix's data frame as rows, lines of rows and columns: lists of dotted names are messages."""
    columns = table()
    rows = [{name: column[number] for name, column in columns.items()} for number in "mta"]
    for data in (json.dumps(rows), "\n".join(map(json.dumps, rows)), json.dumps(columns)):
        trace, found = read_data(data.encode())
        assert trace.format.name == "openinference"
        assert [
            (
                type(call),
                title(call),
                getattr(call, "args", None),
                (call.usage or Usage()).input_tokens,
                (call.usage or Usage()).cost_usd,
            )
            for call in found
        ] == [
            (Message, "message", None, None, None),
            (ModelCall, "message", None, 7, 0.75),
            (ToolCall, "look", {"at": "sea"}, None, None),
        ]
