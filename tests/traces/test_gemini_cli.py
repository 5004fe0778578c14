"""Chats of Gemini CLI: messages that are written again, their calls and tokens."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.event import Event, Message, ModelCall, Notice, ToolCall
from ebbtide.events.usage import Usage


def test_the_last_writing_of_a_message_counts(
    calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """A message that is there twice is one event, with the tokens of its last writing by class."""
    assert totals(calls("gemini_cli.jsonl", form="gemini-cli")) == {
        "tool": 2,
        "llm": 2,
        "user": 1,
        "input_tokens": (1000 - 800 + 5) + 1100,
        "output_tokens": (25 + 40) + 12,
        "cache_read_tokens": 800,
        "cache_write_tokens": None,
        "cost_usd": None,
    }


def test_calls_stand_in_their_message(calls: Callable[..., list[Event]]) -> None:
    """Arguments, result and error come from the call; a response with an error alone failed."""
    tools = [call for call in calls("gemini_cli.jsonl", form="gemini-cli") if isinstance(call, ToolCall)]
    assert [(call.name, call.args, call.result, call.error) for call in tools] == [
        ("read_file", {"path": "notes.txt"}, "Ship it.", False),
        ("read_file", {"path": "none.txt"}, "File not found.", True),
    ]


def test_a_message_may_hold_the_calls_of_several_answers(read_data: Callable[..., Any]) -> None:
    """Calls of one answer are written down at the same time; equal ones of several answers are a loop."""
    calls = [
        {
            "id": f"c{number}",
            "name": "ls",
            "args": {},
            "status": "success",
            "timestamp": f"2026-05-01T10:00:0{at}Z",
        }
        for number, at in enumerate((1, 1, 2, 3))
    ]
    message = {"id": "m", "type": "gemini", "content": "", "toolCalls": calls, "model": "gemini-2.5-pro"}
    _, events = read_data(json.dumps({"sessionId": "s", "projectHash": "p", "messages": [message]}).encode())
    batches = [call.batch for call in events if isinstance(call, ToolCall)]
    assert (len(batches), len(set(batches)), batches[0] == batches[1]) == (4, 3, True)


def test_a_loop_within_a_message_is_found(read_data: Callable[..., Any]) -> None:
    """Older versions put a whole loop into one message."""
    calls = [
        {
            "id": f"c{number}",
            "name": "run_shell_command",
            "args": {"command": "ls"},
            "timestamp": f"2026-05-01T10:00:{number:02}Z",
            "result": [{"functionResponse": {"response": {"output": f"a\nProcess Group PGID: {number}"}}}],
        }
        for number in range(12)
    ]
    message = {"id": "m", "type": "gemini", "content": "", "toolCalls": calls}
    _, events = read_data(json.dumps({"sessionId": "s", "projectHash": "p", "messages": [message]}).encode())
    assert any(signal.period == 1 for signal in find_loops(events))


def test_what_the_tool_says_is_nobody_elses(read_data: Callable[..., Any]) -> None:
    """A patch of the whole history tells messages again, and those that the tool made up around a summary."""
    asked = {"id": "m1", "type": "user", "content": [{"text": "Go."}]}
    answered = {"id": "m2", "type": "gemini", "content": "Gone.", "tokens": {"input": 7, "output": 2}}
    summary = {"id": "m3", "type": "user", "content": [{"text": "<state_snapshot>Gone.</state_snapshot>"}]}
    thanks = {"id": "m4", "type": "gemini", "content": [{"text": "Got it."}]}
    output = {"id": "m5", "type": "user", "content": [{"functionResponse": {"id": "c", "response": {}}}]}
    header = {"sessionId": "s", "projectHash": "p"}
    lines = [header, asked, answered, {"$set": {"messages": [summary, thanks, asked, answered, output]}}]
    trace, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [(type(call), getattr(call, "text", None)) for call in events] == [
        (Message, "Go."),
        (ModelCall, "Gone."),
        (Notice, "<state_snapshot>Gone.</state_snapshot>"),
        (Notice, "Got it."),
    ]
    assert trace.duplicates == 1


def test_printed_lines(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """Pieces of an answer are one model call; thoughts are in the total of tokens alone."""
    found = calls("gemini_cli_printed.jsonl", form="gemini-cli")
    assert totals(found) == {
        "tool": 3,
        "llm": 3,
        "user": 1,
        "input_tokens": 900 - 400,
        "output_tokens": 1000 - 900,
        "cache_read_tokens": 400,
        "cache_write_tokens": None,
        "cost_usd": None,
    }
    assert [call.text for call in found if isinstance(call, ModelCall)] == [
        "Let me look.",
        "",
        "Nothing there.",
    ]
    tools = [(call.name, call.args, call.result, call.error) for call in found if isinstance(call, ToolCall)]
    assert tools == [
        ("ls", {"path": "."}, "a.txt", False),
        ("read_file", {"path": "b.txt"}, "no such file", True),
        ("ls", {"path": "src"}, None, False),
    ]
    batches = [call.batch for call in found if isinstance(call, ToolCall)]
    assert batches[0] == batches[1] != batches[2]


def test_the_object_form(calls: Callable[..., list[Event]]) -> None:
    """Older versions write one object; a message without text is still a model call."""
    found = calls("gemini_cli.json", form="gemini-cli")
    assert [(type(call), getattr(call, "text", None)) for call in found] == [
        (Message, "Read the notes."),
        (ModelCall, ""),
        (ToolCall, None),
        (ModelCall, "The notes say: ship it."),
    ]


def test_more_tokens_after_another_message(read_data: Callable[..., Any]) -> None:
    """A message that is written again after another one adds only what came on top."""
    messages = [
        {"id": name, "type": "gemini", "content": name, "tokens": {"input": 10, "output": output}}
        for name, output in (("a", 1), ("b", 5), ("a", 4))
    ]
    header = {"sessionId": "s", "projectHash": "p"}
    trace, events = read_data("\n".join(map(json.dumps, [header, *messages])).encode())
    assert [
        (call.text, (call.usage or Usage()).input_tokens, (call.usage or Usage()).output_tokens)
        for call in events
    ] == [
        ("a", 10, 1),
        ("b", 10, 5),
        (None, None, 3),
    ]
    assert trace.fault_count == 0


def test_lines_as_a_list(samples: Path, read_data: Callable[..., Any]) -> None:
    """The same messages in a JSON list are the same events."""
    _, written = read_data((samples / "gemini_cli.jsonl").read_bytes())
    lines = [json.loads(line) for line in (samples / "gemini_cli.jsonl").read_text().splitlines()]
    trace, listed = read_data(json.dumps(lines).encode())
    assert (trace.format.name, listed) == ("gemini-cli", written)


def test_equal_outputs_are_equal(read_data: Callable[..., Any]) -> None:
    """The number of the process that ran a command is no part of what it said."""
    calls = [
        {
            "id": f"c{process}",
            "name": "run_shell_command",
            "args": {"command": "ls"},
            "status": "success",
            "result": [
                {"functionResponse": {"response": {"output": f"Output: a\nProcess Group PGID: {process}\n"}}}
            ],
        }
        for process in (17, 4711)
    ]
    message = {"id": "m", "type": "gemini", "content": "", "toolCalls": calls}
    _, events = read_data(json.dumps({"sessionId": "s", "projectHash": "p", "messages": [message]}).encode())
    assert [call.result for call in events if isinstance(call, ToolCall)] == ["Output: a\n"] * 2
