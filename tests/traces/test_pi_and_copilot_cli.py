"""Sessions of pi and of Copilot CLI: calls with their answers, usage once a call, stated totals."""

import json
from collections.abc import Callable
from typing import Any

from ebbtide.checking import check_events
from ebbtide.events.event import ModelCall, Notice, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.supervision.summary.ending import EndKind

AT = "2026-05-12T01:02:27Z"


def test_a_session_of_pi(read_data: Callable[..., Any]) -> None:
    """An answer has its usage and cost, a call its result; an entry that is copied counts once."""
    usage = {"input": 12, "output": 7, "cacheRead": 3, "cacheWrite": 0, "cost": {"total": 0.25}}
    block = {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "a.py"}}
    said = {"role": "assistant", "model": "m", "responseId": "r1", "usage": usage, "content": [block]}
    result = {"role": "toolResult", "toolCallId": "t1", "content": [{"type": "text", "text": "1"}]}
    messages = [{"role": "user", "content": "Go."}, said, said, result]
    lines: list[dict[str, Any]] = [{"type": "session", "id": "s", "timestamp": AT, "cwd": "/x"}]
    lines += [
        {"type": "message", "id": str(n), "timestamp": AT, "message": m} for n, m in enumerate(messages)
    ]
    trace, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert trace.format.name == "pi"
    assert [title(event) for event in events] == ["message", "message", "read"]
    assert events[1].usage == Usage(
        model="m",
        input_tokens=12,
        output_tokens=7,
        cache_read_tokens=3,
        cache_write_tokens=0,
        cost_usd=0.25,
    )
    assert (events[2].args, events[2].result) == ({"path": "a.py"}, "1")


def test_a_session_of_copilot_cli(read_data: Callable[..., Any]) -> None:
    """Answers state their output; the shutdown states all, and is no spending on top. There is no price."""

    def line(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": kind, "timestamp": AT, "parentId": None}

    call = {"toolCallId": "t1", "toolName": "bash", "arguments": {"command": "ls"}}
    said = {"apiCallId": "c1", "model": "gpt-5.4-mini", "content": "Done.", "outputTokens": 45}
    usage = {"inputTokens": 100, "outputTokens": 50, "cacheReadTokens": 60, "cacheWriteTokens": 0}
    lines = [
        line("session.start", sessionId="s"),
        line("user.message", content="Go."),
        line("tool.execution_start", **call),
        line("tool.execution_complete", toolCallId="t1", success=True, result={"content": "a.py"}),
        line("assistant.message", **said),
        line("assistant.message", **said),
        line("session.shutdown", modelMetrics={"gpt-5.4-mini": {"usage": usage}}),
    ]
    trace, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert trace.format.name == "copilot-cli"
    assert [type(event) for event in events[1:]] == [ToolCall, ModelCall, Notice]
    summary = check_events(events)
    assert (summary.spent.tokens.input, summary.spent.tokens.cache_read) == (40, 60)
    assert (summary.spent.tokens.output, summary.spent.cost_usd) == (50, None)


def test_an_answer_of_copilot_cli_without_words_ends_the_turn(read_data: Callable[..., Any]) -> None:
    """Some versions leave the words out; a message that asks for no tool is the end, and no cut."""
    asked = {
        "apiCallId": "c1",
        "model": "gpt-5.4-mini",
        "content": "",
        "outputTokens": 45,
        "toolRequests": [],
    }
    lines = [
        {"type": "session.start", "data": {"sessionId": "s"}, "id": "a", "timestamp": AT, "parentId": None},
        {"type": "user.message", "data": {"content": "Go."}, "id": "b", "timestamp": AT, "parentId": "a"},
        {"type": "assistant.message", "data": asked, "id": "c", "timestamp": AT, "parentId": "b"},
    ]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert check_events(events).ending.ending == EndKind.FINISHED


def test_copilot_cli_states_each_call_by_its_own_key(read_data: Callable[..., Any]) -> None:
    """A call counts once, priced by the token; a call without an answer counts too; the sum is no extra."""

    def line(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": kind, "timestamp": AT, "parentId": None}

    def record(name: str) -> dict[str, Any]:
        tokens = {"inputTokens": 100, "outputTokens": 10, "cacheReadTokens": 60, "cacheWriteTokens": 0}
        usage = {"model": "claude-sonnet-4-5", "apiCallId": name, "isByok": True, **tokens}
        return line("session.usage_record", usage=usage)

    total = {"inputTokens": 200, "outputTokens": 20, "cacheReadTokens": 120, "cacheWriteTokens": 0}
    lines = [
        line("session.start", sessionId="s"),
        line("user.message", content="Go."),
        record("c1"),
        line("assistant.message", apiCallId="c1", model="claude-sonnet-4-5", content="Done."),
        record("c2"),
        line("session.shutdown", modelMetrics={"claude-sonnet-4-5": {"usage": total}}),
    ]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [type(event) for event in events[1:]] == [ModelCall, ModelCall, Notice]
    spent = check_events(events).spent
    assert (spent.tokens.input, spent.tokens.cache_read, spent.tokens.output) == (80, 120, 20)
    assert [event.usage.tier for event in events[1:3]] == [None, None]  # no plan pays for these
