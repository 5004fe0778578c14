"""Sessions of Qwen Code, Kimi Code and Antigravity: answers, calls with their results, and usage."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.checking import check_events
from ebbtide.events.event import Message, ModelCall, Notice, NoticeKind, Stop, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.supervision.summary.ending import EndKind
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile
from ebbtide.traces.sessions.session_origin import origin_of

AT = "2026-05-12T01:02:27Z"


def lines(values: Iterable[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


def qwen(kind: str, parts: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    head = {"uuid": f"{kind}{len(str(parts))}", "sessionId": "s", "cwd": "/srv/q", "timestamp": AT}
    return {**head, "type": kind, "message": {"role": kind, "parts": parts}, **fields}


QWEN = [
    {"uuid": "0", "sessionId": "s", "type": "system", "subtype": "ui_telemetry", "timestamp": AT},
    qwen("user", [{"text": "Read it."}, {"text": "<qwen:user-prompt-submit-context>a hook</x>"}]),
    qwen(
        "assistant",
        [
            {"text": "I think.", "thought": True},
            {"text": "Reading."},
            {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a.py"}}},
        ],
        model="qwen3-coder",
        usageMetadata={"promptTokenCount": 100, "candidatesTokenCount": 7, "cachedContentTokenCount": 40},
    ),
    qwen(
        "tool_result",
        [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"error": "no such file"}}}],
        toolCallResult={"status": "error"},
    ),
    qwen("assistant", [{"text": "There is no such file."}], model="qwen3-coder", usageMetadata={}),
]


def test_a_session_of_qwen_code(read_data: Callable[..., Any]) -> None:
    """Its lines have the heads of Claude Code's, and its parts are Gemini's; thoughts are no words."""
    trace, events = read_data(lines(QWEN))
    assert trace.format.name == "qwen-code"
    assert [title(event) for event in events] == ["message", "message", "read_file", "message"]
    assert [event.text for event in events if isinstance(event, Message | ModelCall)] == [
        "Read it.",
        "Reading.",
        "There is no such file.",
    ]
    assert events[1].usage == Usage(
        model="qwen3-coder", input_tokens=60, output_tokens=7, cache_read_tokens=40
    )
    assert (events[2].args, events[2].result, events[2].error) == ({"path": "a.py"}, "no such file", True)
    assert events[3].usage == Usage(model="qwen3-coder")  # unknown, and not zero


def kimi(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "time": 1_785_612_803_281, **fields}


def kimi_step(kind: str, **fields: Any) -> dict[str, Any]:
    return kimi("context.append_loop_event", event={"type": kind, **fields})


COUNTS = {"inputOther": 60, "output": 7, "inputCacheRead": 40, "inputCacheCreation": 0}
KIMI = [
    {"type": "metadata", "protocol_version": "1.4", "created_at": 1_785_612_803_281},
    kimi("config.update", cwd="/srv/k", profileName="agent", modelAlias="kimi-k2.7"),
    kimi("turn.prompt", input=[{"type": "text", "text": "List it."}], origin={"kind": "user"}),
    kimi(
        "context.append_message",
        message={
            "role": "user",
            "content": [{"type": "text", "text": "List it."}],
            "origin": {"kind": "user"},
        },
    ),
    kimi_step("step.begin", uuid="a", step=1),
    kimi_step("content.part", part={"type": "think", "think": "Hm."}),
    kimi_step("tool.call", toolCallId="b0", name="Bash", args={"command": "ls"}, stepUuid="a"),
    kimi_step("tool.result", toolCallId="b0", result={"output": "a.py"}),
    kimi_step("step.end", uuid="a", usage=COUNTS, finishReason="tool_use", messageId="m1"),
    kimi("usage.record", model="kimi-k2.7", usage=COUNTS, usageScope="turn"),
    kimi_step("step.begin", uuid="b", step=2),
    kimi_step("content.part", part={"type": "text", "text": "One file."}),
    kimi_step("step.end", uuid="b", usage=COUNTS, finishReason="end_turn", messageId="m2"),
    kimi("usage.record", model="kimi-k2.7", usage=COUNTS, usageScope="turn"),
]


def test_a_session_of_kimi_code(read_data: Callable[..., Any]) -> None:
    """A step is one answer before its calls; the record of its usage repeats it."""
    trace, events = read_data(lines(KIMI))
    assert trace.format.name == "kimi"
    assert [title(event) for event in events] == ["message", "message", "Bash", "message"]
    usage = Usage(
        model="kimi-k2.7", input_tokens=60, output_tokens=7, cache_read_tokens=40, cache_write_tokens=0
    )
    assert [event.usage for event in events] == [None, usage, None, usage]
    assert [event.stop for event in events if isinstance(event, ModelCall)] == [Stop.CALLS, Stop.END]
    ending = check_events(events).ending
    assert (ending.ending, ending.text) == (EndKind.FINISHED, "One file.")


def test_a_compaction_of_kimi_code(read_data: Callable[..., Any]) -> None:
    """The call that made the summary has a record of usage alone, and counts."""
    more = {**COUNTS, "inputOther": 1}
    summary = kimi("context.apply_compaction", summary="So far: a list.")
    compaction = [kimi("usage.record", model="kimi-k2.7", usage=more, usageScope="session"), summary]
    reminder = {
        "role": "user",
        "content": [{"type": "text", "text": "Plan."}],
        "origin": {"kind": "injection"},
    }
    _, events = read_data(lines([*KIMI, *compaction, kimi("context.append_message", message=reminder)]))
    kinds = [event.kind for event in events if isinstance(event, Notice)]
    assert kinds == [NoticeKind.USAGE, NoticeKind.COMPACTION, NoticeKind.NOTE]
    assert check_events(events).spent.tokens.total == 2 * 107 + 48


@pytest.mark.parametrize(("until", "expected"), [(8, ["message", "message", "Bash"]), (5, ["message"])])
def test_a_step_that_did_not_end(read_data: Callable[..., Any], until: int, expected: list[str]) -> None:
    """Its calls are shown, and nothing is made up of one that only began."""
    _, events = read_data(lines(KIMI[:until]))
    assert [title(event) for event in events] == expected


def step(index: int, kind: str, source: str = "MODEL", **fields: Any) -> dict[str, Any]:
    head = {"step_index": index, "source": source, "type": kind, "status": "DONE", "created_at": AT}
    return {**head, **fields}


CREATED = "Created At: 2026-05-12T03:02:27+02:00\nCompleted At: 2026-05-12T03:02:28+02:00\n"
CHANGED = "The user changed setting `Model Selection` from None to Gemini 3.5 Flash (Medium).\n"
ANTIGRAVITY = [
    step(
        0,
        "USER_INPUT",
        "USER_EXPLICIT",
        content=f"<USER_REQUEST>\nBuild.\n</USER_REQUEST>\n<S>\n{CHANGED}</S>",
    ),
    step(1, "CONVERSATION_HISTORY", "SYSTEM"),
    step(2, "PLANNER_RESPONSE", tool_calls=[{"name": "run_command", "args": {"CommandLine": "make"}}]),
    step(3, "RUN_COMMAND", exit_code=2, content=f"{CREATED}make: no rule"),
    step(4, "PLANNER_RESPONSE", content="There is no rule to build it."),
]


def test_a_transcript_of_antigravity(read_data: Callable[..., Any]) -> None:
    """The request has no wrapper, a call has the answer of the step after it, without the clock."""
    trace, events = read_data(lines(ANTIGRAVITY))
    assert trace.format.name == "antigravity"
    request, asking, call, answer = events
    assert (request.text, asking.stop, answer.text) == ("Build.", Stop.CALLS, "There is no rule to build it.")
    assert isinstance(call, ToolCall)
    assert (call.name, call.args, call.result, call.error) == (
        "run_command",
        {"CommandLine": "make"},
        "make: no rule",
        True,
    )
    assert answer.usage == Usage(model="Gemini 3.5 Flash (Medium)")
    assert check_events(events).ending.ending is EndKind.FINISHED


@pytest.mark.parametrize(
    ("agent", "path", "values", "expected"),
    [
        (CodingAgent.QWEN, "-srv-q/chats/s.jsonl", QWEN[1:], ("s", None, "/srv/q")),
        (CodingAgent.QWEN, "-srv-q/subagents/s/agent-1.jsonl", QWEN[1:], ("agent-1", "s", "/srv/q")),
        (CodingAgent.KIMI, "wd/s/agents/main/wire.jsonl", KIMI, ("s", None, "/srv/k")),
        (CodingAgent.KIMI, "wd/s/agents/agent-0/wire.jsonl", KIMI, ("s/agent-0", "s", "/srv/k")),
        (
            CodingAgent.ANTIGRAVITY,
            "i/.system_generated/logs/transcript_full.jsonl",
            ANTIGRAVITY,
            ("i", None, None),
        ),
    ],
)
def test_where_a_session_comes_from(
    tmp_path: Path,
    agent: CodingAgent,
    path: str,
    values: list[dict[str, Any]],
    expected: tuple[str, str | None, str | None],
) -> None:
    """The folder of a session names it, and the folder of a sub-agent its parent."""
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_bytes(lines(values))
    is_main = expected[1] is None
    origin = origin_of(
        SessionFile(agent=agent, path=str(file), modified=0.0, folder=str(tmp_path), is_main=is_main)
    )
    assert (origin.id, origin.parent, origin.project) == expected


def test_an_order_is_no_failure() -> None:
    """A harness that says "Don't ask" in every answer has not failed."""
    words = "Created file a.py.\nRun it. Don't ask for permission."
    calls = [ToolCall(name="write", args={"path": f"{n}.py"}, result=words) for n in range(3)]
    assert check_events(calls).facts.failures.calls == 0
