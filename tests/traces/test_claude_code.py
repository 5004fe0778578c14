"""Sessions of Claude Code: calls with their results, usage once a model call, sub-agents, costs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.checking import check_events
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, Notice, Phase, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.traces.reading import Trace, load


@pytest.fixture
def session(calls: Callable[..., list[Event]]) -> list[Event]:
    return calls("claude_code.jsonl", form="claude-code")


def test_a_call_comes_once_with_its_result(session: list[Event]) -> None:
    """Each has its result, its error flag and its time; one that starts an agent also comes as it begins."""
    calls = [call for call in session if isinstance(call, ToolCall)]
    begun = [call for call in calls if call.phase is Phase.STARTED]
    assert [(call.name, call.args, call.usage) for call in begun] == [("Task", {"prompt": "Find b."}, None)]
    ended = [call for call in calls if call.phase is Phase.FINISHED]
    tools = [(call.name, call.args, call.result, call.error) for call in ended]
    assert tools == [
        ("Read", {"file_path": "a.py"}, "import b", False),
        ("Read", {"file_path": "b.py"}, "no such file", True),
        ("Glob", {"pattern": "**/b.py"}, "No files found", False),
        ("Task", {"prompt": "Find b."}, "There is none.", False),
        ("Bash", {"command": "sleep 9"}, None, False),
    ]
    assert [call.batch for call in ended] == [
        "m1 r1",
        "m1 r1",
        "m3",
        "m2",
        "m4",
    ]


def test_usage_counts_once_a_model_call(session: list[Event], totals: Callable[..., dict[str, Any]]) -> None:
    """Lines of one message share their usage; the last line counts, though calls came in between."""
    assert totals(session) == {
        "tool": 5,
        "llm": 4,
        "user": 2,
        "input_tokens": 10 + 5 + 7 + 4,
        "output_tokens": 120 + 20 + 9 + 12,
        "cache_read_tokens": 2000,
        "cache_write_tokens": 400,
        "cost_usd": None,
    }


def test_sub_agents_are_chains_of_their_own(session: list[Event]) -> None:
    """Lines of a sidechain follow their parents; the main run has no name."""
    chains = {call.name: call.chain_id for call in session if isinstance(call, ToolCall)}
    assert chains["Glob"] == "sidechain 1"
    assert {chains[name] for name in ("Read", "Task", "Bash")} == {""}


def test_a_compaction_is_an_event(session: list[Event]) -> None:
    """The boundary is a condensation, and its summary is nothing that a user said."""
    system = [title(call) for call in session if isinstance(call, Notice)]
    assert system == ["usage", "condensation", "note", "total"]
    total = session[-1]
    assert isinstance(total, Notice)
    assert total.stated == (Usage(cost_usd=0.35),)


def test_the_session_is_a_conversation(samples: Path) -> None:
    """What the user and the models say are its rounds."""
    said = [(item.agent, item.text) for item in load(samples / "claude_code.jsonl").rounds]
    assert said == [
        ("user", "Why does the import fail?"),
        ("assistant", "I will look at both files."),
        ("user", "Find b."),
        ("assistant", "Module b is missing."),
    ]


def test_what_is_printed_is_read_too(read_data: Callable[..., Any]) -> None:
    """``--output-format stream-json`` has no times, names sub-agents by their call, ends with the cost."""
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s", "uuid": "0"},
        {
            "type": "assistant",
            "session_id": "s",
            "parent_tool_use_id": "t9",
            "message": {"id": "m", "role": "assistant", "content": "hi", "usage": {"input_tokens": 3}},
        },
        {"type": "result", "session_id": "s", "total_cost_usd": 0.5, "usage": {"input_tokens": 3}},
    ]
    for data in ("\n".join(map(json.dumps, lines)), json.dumps(lines)):
        trace, events = read_data(data.encode())
        assert not trace.timed
        assert [
            (
                title(call),
                call.chain_id,
                (call.usage or Usage()).input_tokens,
                (call.usage or Usage()).cost_usd,
            )
            for call in events
        ] == [
            ("message", "t9", 3, None),
            ("total", "", None, None),
        ]
        assert events[-1].stated == (Usage(cost_usd=0.5),)


def test_a_repeated_line_is_dropped(samples: Path) -> None:
    """A line that stands twice is counted as a duplicate."""
    trace = Trace.of((samples / "claude_code.jsonl").read_bytes())
    assert len(list(trace)) == 16
    assert trace.duplicates == 1


def test_counts_agree_with_the_files(data: Path, calls: Any, totals: Callable[..., dict[str, Any]]) -> None:
    """Messages, calls and tokens are those of a count straight from each file."""
    files = sorted((data / "traces" / "claude_code").glob("*.jsonl"))
    assert files
    for path in files:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        messages = [
            (line["type"], line["message"])
            for line in lines
            if isinstance(line, dict) and isinstance(line.get("message"), dict)
        ]
        answers = {message["id"]: message for kind, message in messages if kind == "assistant"}
        blocks = [block for message in answers.values() for block in message["content"]]
        said = [
            message["content"]
            for kind, message in messages
            if kind == "user"
            and "<local-command-stdout>" not in json.dumps(message)
            and (
                isinstance(message.get("content"), str)
                or any(
                    isinstance(block, str) or block.get("type") == "text"
                    for block in message.get("content", [])
                )
            )
        ]
        usage = [message["usage"] for message in answers.values()]
        found = totals(calls(path, form="claude-code"))
        assert (found["llm"], found["user"]) == (len(answers), len(said))
        assert found["tool"] == sum(block["type"] == "tool_use" for block in blocks)
        for name, key in (
            ("input_tokens", "input_tokens"),
            ("output_tokens", "output_tokens"),
            ("cache_read_tokens", "cache_read_input_tokens"),
            ("cache_write_tokens", "cache_creation_input_tokens"),
        ):
            assert (found[name] or 0) == sum(entry.get(key, 0) for entry in usage)
        assert found["cost_usd"] is None


def test_results_have_the_tokens_that_lines_lack(read_data: Callable[..., Any]) -> None:
    """Printed lines tell of the output as it began; a result has the totals of its session, by model."""
    message = {
        "id": "m1",
        "role": "assistant",
        "content": [],
        "usage": {"input_tokens": 50, "output_tokens": 1},
    }

    def result(session: str, output: int, cost: float) -> dict[str, Any]:
        models = {
            "large": {"inputTokens": 50, "outputTokens": output, "cacheReadInputTokens": 7},
            "small": {"inputTokens": 20, "outputTokens": 5},
        }
        told = {"type": "result", "subtype": "success", "session_id": session}
        return {**told, "modelUsage": models, "total_cost_usd": cost}

    lines = [
        {"type": "assistant", "message": message, "session_id": "s", "parent_tool_use_id": None},
        result("s", 30, 0.25),
        result("s", 40, 0.5),
        result("t", 10, 0.125),
    ]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    (total,) = (event for event in events if isinstance(event, Notice))
    assert total.stated == (
        Usage(model="large", input_tokens=100, output_tokens=50, cache_read_tokens=14),
        Usage(model="small", input_tokens=40, output_tokens=10),
        Usage(cost_usd=0.625),
    )


def test_a_printed_session_lasts_as_long_as_it_states(read_data: Callable[..., Any]) -> None:
    """Its lines of the model have no times: from the first answer of a tool to the last is too short."""

    def answer(second: int) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": f"t{second}", "content": "a"}
        stamp = f"2026-01-05T10:00:{second:02}.000Z"
        return {"type": "user", "timestamp": stamp, "message": {"role": "user", "content": [block]}}

    result = {"type": "result", "subtype": "success", "total_cost_usd": 0.25, "duration_ms": 20_500}
    _, events = read_data(
        "\n".join(map(json.dumps, [{"type": "user", **answer(5)}, answer(9), result])).encode()
    )
    assert events[-1].ts == 1_767_607_205.0 + 20.5


TASK = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "Find b", "prompt": "..."}}
ASKS = {
    "type": "assistant",
    "uuid": "1",
    "message": {"id": "m", "role": "assistant", "content": [TASK], "usage": {"input_tokens": 3}},
}
SAYS = {"role": "assistant", "id": "n", "content": "I look.", "usage": {"input_tokens": 5}}
ANSWER = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "There."}]}
USED = {"input_tokens": 6, "output_tokens": 1}


@pytest.mark.parametrize(
    ("lines", "chain"),
    [
        ([{"type": "user", "message": ANSWER, "toolUseResult": {"agentId": "a7", "usage": USED}}], "a7"),
        (
            [
                {
                    "type": "progress",
                    "uuid": "2",
                    "parentToolUseID": "t1",
                    "data": {"agentId": "a7", "message": {"type": "assistant", "message": SAYS}},
                },
                {"type": "user", "uuid": "3", "message": {"role": "user", "content": "Stop."}},
            ],
            "a7",
        ),
        ([{"type": "assistant", "parent_tool_use_id": "t1", "message": SAYS}], "t1"),
    ],
    ids=["result", "progress of a call that was interrupted", "printed"],
)
def test_a_call_names_the_chain_of_the_agent_that_it_started(
    lines: list[dict[str, Any]], chain: str, read_data: Callable[..., Any]
) -> None:
    """So the bill can name the agent by its task."""
    session = {"sessionId": "s", "timestamp": "2026-01-05T10:00:00.000Z"}
    _, events = read_data("\n".join(json.dumps(session | line) for line in [ASKS, *lines]).encode())
    starts = {
        event.starts for event in events if isinstance(event, ToolCall) and event.phase is Phase.FINISHED
    }
    assert starts == {chain}
    assert chain in {event.chain_id for event in events}


def test_the_answer_of_an_agent_states_how_many_calls_it_made(read_data: Callable[..., Any]) -> None:
    """Where none of them is in the record, nobody takes their number for zero, nor the cost for whole."""
    answer = {
        "type": "user",
        "uuid": "2",
        "message": ANSWER,
        "toolUseResult": {"agentId": "a7", "usage": USED, "totalToolUseCount": 62},
    }
    session = {"sessionId": "s", "timestamp": "2026-01-05T10:00:00.000Z"}
    _, events = read_data("\n".join(json.dumps(session | line) for line in [ASKS, answer]).encode())
    (call,) = [event for event in events if isinstance(event, ToolCall) and event.phase is Phase.FINISHED]
    assert (call.starts, call.started_calls) == ("a7", 62)
    assert check_events(events).spent.unrecorded == 62
    acts = ToolCall(name="Grep", args={"q": "b"}, result="b.py", chain_id="a7")
    assert check_events([*events, acts]).spent.unrecorded == 0


@pytest.mark.parametrize(
    "tag", ["local-command-stdout", "task-notification", "bash-stderr", "system-reminder"]
)
def test_the_tool_does_not_speak_for_the_user(tag: str, read_data: Callable[..., Any]) -> None:
    """What a command printed, or a task that ended, is no message of the user; what the user typed is."""
    texts = ["Go.", f"<{tag}>done</{tag}>", "<command-name>/compact</command-name>"]
    lines = [
        {"type": "user", "uuid": said, "parentUuid": None, "message": {"role": "user", "content": said}}
        for said in texts
    ]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [type(call) for call in events] == [Message, Notice, Message]


def test_a_list_of_prompts_is_no_session(read_data: Callable[..., Any]) -> None:
    """Lines of another tool that name their session are not taken for lines of this one."""
    prompts = [
        {"sessionId": "s", "messageId": 0, "type": "user", "message": "Go.", "timestamp": "2025-09-01"}
    ]
    with pytest.raises(TranscriptError, match="known format"):
        read_data(json.dumps(prompts).encode())


def test_the_words_of_a_hook_against_a_call_are_a_note(read_data: Callable[..., Any]) -> None:
    """A hook that blocks after a call speaks to the model; one at the end of a turn has a line of its own."""
    edit = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "a.ts"}}
    line = {"sessionId": "s", "timestamp": "2026-08-18T10:14:34Z"}

    def blocked(event: str) -> dict[str, Any]:
        error = {"blockingError": "[lint]: 3907 problems"}
        return line | {
            "type": "attachment",
            "attachment": {"type": "hook_blocking_error", "hookEvent": event, "blockingError": error},
        }

    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "updated"}
    lines = [
        line | {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [edit]}},
        line | {"type": "user", "message": {"role": "user", "content": [answer]}},
        blocked("PostToolUse"),
        blocked("Stop"),
    ]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    notes = [event for event in events if isinstance(event, Notice)]
    assert [(note.text, note.error) for note in notes] == [("PostToolUse hook: [lint]: 3907 problems", True)]
