"""Rollouts of Codex, of today and of early versions, and what ``codex exec --json`` prints."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, Notice, ToolCall, title
from ebbtide.events.usage import Usage

# What two model calls used; the first says something and makes two calls, the second only speaks.
USAGE = (
    {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 10, "reasoning_output_tokens": 4},
    {"input_tokens": 150, "cached_input_tokens": 90, "output_tokens": 20, "reasoning_output_tokens": 0},
)


def said(text: str) -> list[dict[str, Any]]:
    """A message of the model, as an event and as an item."""
    content = [{"type": "output_text", "text": text}]
    return [
        {"type": "event_msg", "payload": {"type": "agent_message", "message": text}},
        {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": content}},
    ]


def counted(*usages: dict[str, int]) -> dict[str, Any]:
    """What is told of tokens after these model calls."""
    total = {key: sum(usage[key] for usage in usages) for key in usages[0]}
    info = {"last_token_usage": usages[-1], "total_token_usage": total}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def recorded(name: str, *usages: dict[str, int]) -> dict[str, Any]:
    """What later versions record of a model call."""
    total = counted(*usages)["payload"]["info"]["total_token_usage"]
    payload = {"response_id": name, "usage": usages[-1], "thread_token_usage": total}
    return {"type": "token_usage_record", "payload": payload}


def asked(*names: str) -> list[dict[str, Any]]:
    """Calls, without their outputs."""
    call = {"type": "function_call", "name": "shell", "arguments": "{}"}
    return [{"type": "response_item", "payload": {**call, "call_id": name}} for name in names]


def answered(*names: str) -> list[dict[str, Any]]:
    """Outputs of calls."""
    output = {"type": "function_call_output", "output": "Exit code: 0\nOutput:\nyes"}
    return [{"type": "response_item", "payload": {**output, "call_id": name}} for name in names]


FIRST, LAST = said("I look."), said("All is well.")
ONE, BOTH = counted(USAGE[0]), counted(*USAGE)
# The same run, as versions write it.
ORDERS = {
    "usage before the items": [FIRST[0], ONE, FIRST[1], *asked("a"), *answered("a"), *asked("b"),
                               *answered("b"), ONE, LAST[0], BOTH, LAST[1]],
    "usage after the calls": [*FIRST, *asked("a", "b"), ONE, *answered("a", "b"), ONE, *LAST, BOTH],
    "usage after the outputs": [*FIRST, *asked("a", "b"), *answered("b", "a"), ONE, *LAST, BOTH],
    "records, and no events": [FIRST[1], *asked("a", "b"), recorded("r1", USAGE[0]), *answered("a", "b"),
                               ONE, LAST[1], recorded("r2", *USAGE), BOTH],
}  # fmt: skip


@pytest.mark.parametrize("lines", ORDERS.values(), ids=ORDERS)
def test_model_calls_count_once_in_every_order(
    lines: list[dict[str, Any]], read_data: Callable[..., Any], totals: Callable[..., dict[str, Any]]
) -> None:
    """A model call has its text and its tokens, wherever they stand around its calls."""
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert totals(events) == {
        "tool": 2,
        "llm": 2,
        "user": 0,
        "input_tokens": sum(usage["input_tokens"] - usage["cached_input_tokens"] for usage in USAGE),
        "output_tokens": 30,
        "cache_read_tokens": 150,
        "cache_write_tokens": None,
        "cost_usd": None,
    }
    spoken = [
        (call.text, (call.usage or Usage()).output_tokens) for call in events if isinstance(call, ModelCall)
    ]
    assert spoken == [("I look.", 10), ("All is well.", 20)]
    assert len({call.batch for call in events if isinstance(call, ToolCall)}) == 1


def test_sessions_in_one_file_count_apart(read_data: Callable[..., Any]) -> None:
    """Totals of another session may be the same; those of one session are the same calls, also copied."""
    meta, other = ({"type": "session_meta", "payload": {"id": name}} for name in "xy")
    lines = [meta, ONE, BOTH, meta, BOTH, meta, ONE, BOTH, other, ONE, BOTH]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [(call.usage or Usage()).output_tokens for call in events] == [10, 20, 10, 20]


def test_answers_without_usage(read_data: Callable[..., Any]) -> None:
    """Where nobody tells of tokens, an answer ends where outputs of its calls are followed by another one."""
    lines = [*FIRST, *asked("a", "b"), *answered("a", "b"), *asked("c"), *answered("c"), *LAST]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [call.text for call in events if isinstance(call, ModelCall)] == ["I look.", "", "All is well."]


def test_a_total_without_a_call_counts_nothing(read_data: Callable[..., Any]) -> None:
    """After a compaction the last usage is an estimate beside the old total."""
    estimate = counted(*USAGE)
    estimate["payload"]["info"]["last_token_usage"] = {**USAGE[1], "input_tokens": 9_999}
    empty = counted(dict.fromkeys(USAGE[0], 0))
    lines = [{"type": "session_meta", "payload": {}}, ONE, BOTH, estimate, empty]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [(call.usage or Usage()).output_tokens for call in events] == [10, 20]


def test_calls_have_their_results_and_errors(calls: Callable[..., list[Event]]) -> None:
    """Results are joined by id, in the order in which they came; exit codes stand in the text, or beside."""
    tools = [call for call in calls("codex.jsonl", form="codex") if isinstance(call, ToolCall)]
    assert [(call.name, call.args, call.error, call.batch) for call in tools] == [
        ("exec_command", {"cmd": "ls"}, False, "turn 0"),
        ("exec_command", {"cmd": "pytest -q"}, True, "turn 0"),
        ("apply_patch", "*** Begin Patch\n*** End Patch", True, "turn 1"),
        ("web_search", {"type": "search", "query": "patch format"}, False, "turn 1"),
    ]
    assert [call.result for call in tools[1:]] == ["1 failed", "patch does not apply", None]


def test_usage_counts_once(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """Of three records a model call one counts; cached tokens are no longer in the input."""
    assert totals(calls("codex.jsonl", form="codex")) == {
        "tool": 4,
        "llm": 2,
        "user": 1,
        "input_tokens": 400 + 100,
        "output_tokens": 90,
        "cache_read_tokens": 1700,
        "cache_write_tokens": None,
        "cost_usd": None,
    }


def test_the_tool_does_not_speak_for_the_user(calls: Callable[..., list[Event]]) -> None:
    """The environment that Codex puts in is an event of the system, as is a compaction."""
    system = [title(call) for call in calls("codex.jsonl", form="codex") if isinstance(call, Notice)]
    assert system == ["note", "condensation"]


def test_early_rollouts(calls: Callable[..., list[Event]]) -> None:
    """Lines without an envelope are the same items; lines of state stand between the model calls."""
    found = calls("codex_old.jsonl", form="codex")
    assert [
        (
            type(call),
            title(call),
            getattr(call, "text", None),
            getattr(call, "result", None),
            getattr(call, "error", False),
        )
        for call in found
    ] == [
        (Message, "message", "List the files.", None, False),
        (ToolCall, "shell", None, "a.txt\n", False),
        (ToolCall, "shell", None, "error: no such directory", True),
        (ModelCall, "message", "", None, False),
        (ModelCall, "message", "There is a.txt.", None, False),
    ]


def test_printed_items(calls: Callable[..., list[Event]]) -> None:
    """What is printed comes complete; the tokens of a turn are an event of their own."""
    found = calls("codex_exec.jsonl", form="codex")
    assert [(type(call), title(call), getattr(call, "error", False)) for call in found] == [
        (Notice, "error", True),
        (ToolCall, "command_execution", True),
        (ToolCall, "search", False),
        (ModelCall, "message", False),
        (Notice, "total", False),
    ]
    assert (
        (found[-1].usage or Usage()).input_tokens,
        (found[-1].usage or Usage()).cache_read_tokens,
        (found[-1].usage or Usage()).output_tokens,
    ) == (100, 200, 30)


def test_printed_events(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """Before there were items, the begin and the end of each call were printed, and tokens by answer."""
    found = calls("codex_protocol.jsonl", form="codex")
    assert totals(found) == {
        "tool": 3,
        "llm": 3,
        "user": 1,
        "input_tokens": 40 + 40 + 60,
        "output_tokens": 10 + 10 + 20,
        "cache_read_tokens": 60 + 60 + 90,
        "cache_write_tokens": None,
        "cost_usd": None,
    }
    tools = [(call.name, call.args, call.result, call.error) for call in found if isinstance(call, ToolCall)]
    assert tools == [
        ("exec_command", {"command": ["bash", "-lc", "ls"]}, "a.txt\n", False),
        ("search", {"q": "x"}, "no such index", True),
        ("patch_apply", {"changes": {"a.txt": {"add": {"content": "x"}}}}, "no", True),
    ]
    spoken = [(call.text, (call.usage or Usage()).model) for call in found if isinstance(call, ModelCall)]
    assert spoken == [("I look.", "gpt-5-codex"), ("", "gpt-5-codex"), ("Done.", "gpt-5-codex")]


def test_usage_records_count_once(read_data: Callable[..., Any]) -> None:
    """A record of usage is one model call, and the same one again is none."""
    records = [
        {"type": "token_usage_record", "payload": {"response_id": name, "usage": USAGE[1]}} for name in "aab"
    ]
    trace, events = read_data(
        "\n".join(map(json.dumps, [{"type": "session_meta", "payload": {}}, *records])).encode()
    )
    assert [(type(call), (call.usage or Usage()).output_tokens) for call in events] == [
        (ModelCall, 20),
        (ModelCall, 20),
    ]
    assert trace.duplicates == 1


@pytest.mark.parametrize(
    ("output", "result", "error"),
    [
        ("plain", "plain", False),
        ("Exit code: 3\nWall time: 1 seconds\nTotal output lines: 1\nOutput:\nno", "no", True),
        ("Exit code: 0\nWall time: 1.5 seconds\nOutput:\nyes", "yes", False),
        (
            "Command: a\nb\nChunk ID: 1f\nWall time: 0.5 seconds\nProcess exited with code 2\nOutput:\nno",
            "no",
            True,
        ),
        ("Wall time: 0.1 seconds\nOutput:\nExit code: 1\nWall time: 0 seconds\nOutput:\nno", "no", True),
        ("Chunk ID: 2e\nWall time: 9.9 seconds\nProcess running with session ID 7\nOutput:\n", "", False),
        (
            [
                {"type": "input_text", "text": "Script completed\nWall time 1.3 seconds\nOutput:\n"},
                {"type": "input_text", "text": "a.txt"},
            ],
            "a.txt",
            False,
        ),
        ("The report says:\nExit code: 1", None, False),
        ({"content": "no", "success": False}, "no", True),
        ([{"type": "input_text", "text": "one"}], "one", False),
        ("unsupported call: frobnicate", None, True),
        ("apply_patch verification failed: no such file", None, True),
        ("Wall time: 0.1 seconds\naborted by user", None, True),
    ],
)
def test_outputs(read_data: Callable[..., Any], output: object, result: object, error: bool) -> None:
    """An output is a text, parts of one, or an object with flags, as versions have it."""
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "1"}
    answer = {"type": "function_call_output", "call_id": "1", "output": output}
    lines = [{"type": "response_item", "payload": item} for item in (call, answer)]
    _, (event, _) = read_data("\n".join(map(json.dumps, lines)).encode())
    assert (event.result, event.error) == (output if result is None else result, error)


def test_other_ways_to_write_a_rollout(samples: Path, read_data: Callable[..., Any]) -> None:
    """The lines as a list; and as the first Codex wrote its session."""
    lines = [json.loads(line) for line in (samples / "codex.jsonl").read_text().splitlines()]
    _, written = read_data((samples / "codex.jsonl").read_bytes())
    trace, listed = read_data(json.dumps(lines).encode())
    assert (trace.format.name, listed) == ("codex", written)
    items = [line["payload"] for line in lines if line["type"] == "response_item"]
    session = {"session": {"id": "x", "timestamp": "2025-04-20T10:00:00Z"}, "items": items}
    _, found = read_data(json.dumps(session).encode())
    assert [call.name for call in found if isinstance(call, ToolCall)] == [
        call.name for call in written if isinstance(call, ToolCall)
    ]


@pytest.mark.parametrize("enveloped", [True, False])
def test_a_loop_is_found(enveloped: bool, read_data: Callable[..., Any]) -> None:
    """The same command with the same output, each under another id and time, with and without usage."""
    items = []
    for number in range(12):
        output = (
            f"Chunk ID: {number:x}f\nWall time: 0.{number} seconds\nProcess exited with code 0\nOutput:\na\n"
        )
        call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": f"c{number}"}
        items += [call, {"type": "function_call_output", "call_id": f"c{number}", "output": output}]
    head: dict[str, Any] = {"id": "x", "timestamp": "2025-06-04T05:06:07Z"}
    lines = [{"type": "response_item", "payload": item} for item in items] if enveloped else [head, *items]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert any(signal.period == 1 for signal in find_loops(events))


@pytest.mark.parametrize(
    "line", [{"id": "0", "msg": {"type": {}}}, {"type": [], "payload": {}}, {"items": [1]}]
)
def test_what_only_looks_like_a_rollout_is_refused(
    line: dict[str, Any], read_data: Callable[..., Any]
) -> None:
    """A type that is no text says nothing."""
    with pytest.raises(TranscriptError, match="codex: no line of type"):
        read_data("\n".join([json.dumps(line)] * 2).encode())


def count(total: int, last: int, second: int = 0) -> dict[str, Any]:
    """A count of tokens: of the thread, and of the latest call."""
    info = {
        "total_token_usage": {"input_tokens": total, "output_tokens": total // 10},
        "last_token_usage": {"input_tokens": last, "output_tokens": last // 10},
    }
    stamp = f"2026-05-01T10:00:{second:02}Z"
    return {"type": "event_msg", "timestamp": stamp, "payload": {"type": "token_count", "info": info}}


def test_a_total_that_grows_by_more_than_its_call_counts_whole(read_data: Callable[..., Any]) -> None:
    """What no line tells of is a spending beside the calls, so that all of it is the stated total."""
    meta = {"type": "session_meta", "payload": {"id": "x"}}
    lines = [meta, count(100, 100), count(400, 100), count(400, 100), count(500, 100)]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [(title(event), event.usage.input_tokens) for event in events] == [
        ("message", 100),
        ("message", 100),
        ("usage", 200),
        ("message", 100),
    ]


def test_a_fork_names_the_calls_of_its_parent_as_the_parent_does(read_data: Callable[..., Any]) -> None:
    """Counts that a fork replays have the identity that they have in the file of the thread it comes from."""
    parent = {"type": "session_meta", "payload": {"id": "p"}}
    child = {"type": "session_meta", "payload": {"id": "c", "forked_from_id": "p"}}
    history = [count(100, 100), count(300, 200)]

    def calls(lines: list[dict[str, Any]]) -> list[object]:
        _, events = read_data("\n".join(map(json.dumps, lines)).encode())
        return [event.call for event in events]

    own = calls([parent, *history])
    forked = calls([child, parent, *history, count(350, 50, 9)])
    assert len(set(own)) == 2
    assert forked[:2] == own
    assert forked[2] not in own
