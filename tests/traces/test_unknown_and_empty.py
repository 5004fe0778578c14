"""What a format leaves out is unknown; what it writes down as empty is empty. Only the second is proof."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ebbtide.events.event import Event, ModelCall, ToolCall
from ebbtide.traces.reading import loads

CLAUDE = {"parentUuid": None, "sessionId": "s"}


def claude(*blocks: dict[str, Any], result: dict[str, Any]) -> list[dict[str, Any]]:
    asking = {"id": "m", "role": "assistant", "content": list(blocks)}
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", **result}]}
    return [
        {"type": "assistant", "uuid": "1", **CLAUDE, "message": asking},
        {"type": "user", "uuid": "2", **CLAUDE, "message": answer},
    ]


def use(**fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": "Look", **fields}


def chat(arguments: object, *answers: dict[str, Any]) -> list[dict[str, Any]]:
    call = {"id": "t", "type": "function", "function": {"name": "Look", "arguments": arguments}}
    asking = {"role": "assistant", "content": None, "tool_calls": [call]}
    return [asking, *({"role": "tool", "tool_call_id": "t", **answer} for answer in answers)]


def codex(event: dict[str, Any], **end: Any) -> list[dict[str, Any]]:
    return [
        {"id": "0", "msg": {"type": "session_configured", "model": "m"}},
        {"id": "1", "msg": {"type": "mcp_tool_call_begin", "call_id": "t", "invocation": event}},
        {"id": "2", "msg": {"type": "mcp_tool_call_end", "call_id": "t", **end}},
    ]


def printed(**item: Any) -> list[dict[str, Any]]:
    begin = {"type": "thread.started", "thread_id": "x"}
    return [begin, {"type": "item.completed", "item": {"id": "t", "status": "completed", **item}}]


def gemini(**call: Any) -> list[dict[str, Any]]:
    calls = [{"id": "t", "name": "Look", "status": "success", **call}]
    return [{"id": "m", "type": "gemini", "content": "", "model": "g", "toolCalls": calls}]


@pytest.mark.parametrize(
    ("lines", "args", "result"),
    [
        (claude(use(input={}), result={"content": ""}), {}, ""),
        (claude(use(), result={}), None, ""),
        (claude(use(input={}), result={"content": [{"type": "text", "text": ""}]}), {}, ""),
        (claude(use(input={}), result={"content": []}), {}, ""),
        (claude(use(input={}), result={})[:1], {}, None),
        (chat("", {"content": ""}), {}, ""),
        (chat("{}", {"content": None}), {}, ""),
        (chat(None), None, None),
        (codex({"server": "s", "tool": "Look", "arguments": None}, result={"Ok": {"content": []}}), {}, ""),
        (codex({"server": "s", "tool": "Look"}), None, None),
        (printed(type="mcp_tool_call", tool="Look", server="s"), None, None),
        (printed(type="command_execution", command="ls", aggregated_output=""), {"command": "ls"}, ""),
        (gemini(args={}, result=[]), {}, ""),
        (gemini(), None, None),
    ],
)
def test_calls(
    read_data: Callable[..., Any], lines: list[dict[str, Any]], args: object, result: object
) -> None:
    """What is not written down is None; no arguments are an empty object, no answer is an empty text."""
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [(call.args, call.result) for call in events if isinstance(call, ToolCall)] == [(args, result)]


@pytest.mark.parametrize("lines", [claude(use(input={}), result={}), chat("{}"), gemini()])
def test_a_model_that_only_calls_says_nothing(
    read_data: Callable[..., Any], lines: list[dict[str, Any]]
) -> None:
    """Its words are known: there are none."""
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [call.text for call in events if isinstance(call, ModelCall)] == [""]


def test_what_a_trace_hides_is_unknown(read_data: Callable[..., Any]) -> None:
    """Spans without contents tell neither words nor arguments nor answers."""
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Look"}
    spans = [
        {"name": "chat", "context": {"trace_id": "1", "span_id": "2"}, "attributes": attributes},
        {"name": "tool", "context": {"trace_id": "1", "span_id": "3"}, "attributes": tool},
        {
            "name": "tool",
            "context": {"trace_id": "1", "span_id": "4"},
            "attributes": {**tool, "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": ""},
        },
    ]
    events: list[Event] = read_data("\n".join(map(json.dumps, spans)).encode())[1]
    assert [call.text for call in events if isinstance(call, ModelCall)] == [None]
    tools = [(call.args, call.result) for call in events if isinstance(call, ToolCall)]
    assert tools == [(None, None), ({}, "")]


def test_usage_is_none_where_nothing_is_told(read_data: Callable[..., Any]) -> None:
    """A model alone makes a usage; neither model, tokens nor cost makes none."""
    lines = claude(use(input={}), result={})
    assert [event.usage for event in read_data("\n".join(map(json.dumps, lines)).encode())[1]] == [None, None]
    lines[0]["message"]["model"] = "m"
    events = read_data("\n".join(map(json.dumps, lines)).encode())[1]
    assert events[0].usage.model == "m"


def test_a_failure_is_no_turn() -> None:
    """Why a call of a model failed is its text, and nothing that the model said."""
    request = {"model": "m", "messages": [{"role": "user", "content": "Weather?"}]}
    lines = [
        {"name": "chat", "context": {"trace_id": "1", "span_id": "2"}, "start_time": 1, "attributes": span}
        for span in (
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "m",
                "error.type": "Overloaded",
                "gen_ai.input.messages": json.dumps(request["messages"]),
            },
        )
    ]
    assert [item.text for item in loads("\n".join(map(json.dumps, lines))).rounds] == ["Weather?"]
