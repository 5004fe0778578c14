"""Events of each coding agent, in the shape that the real ones have, and what is answered to them."""

import pytest

from ebbtide.adapters.hooks.claude import CLAUDE
from ebbtide.adapters.hooks.codex import CODEX
from ebbtide.adapters.hooks.copilot import COPILOT
from ebbtide.adapters.hooks.cursor import CURSOR
from ebbtide.adapters.hooks.gemini import GEMINI
from ebbtide.adapters.hooks.opencode import OPENCODE
from ebbtide.adapters.hooks.step import MAIN, HookReply, StepKind, Switch

CODECS = [CLAUDE, CODEX, COPILOT, CURSOR, GEMINI, OPENCODE]


def claude(name: str, **fields: object) -> dict[str, object]:
    base = {"session_id": "s", "transcript_path": "t.jsonl", "cwd": "w", "permission_mode": "default"}
    return {**base, "prompt_id": "p", "hook_event_name": name, **fields}


def codex(name: str, **fields: object) -> dict[str, object]:
    base = {"session_id": "s", "turn_id": "u", "transcript_path": "t.jsonl", "cwd": "w", "model": "m"}
    return {**base, "hook_event_name": name, **fields}


def copilot(name: str, **fields: object) -> dict[str, object]:
    base = {"session_id": "s", "timestamp": "2026-11-29T11:36:28.070Z", "cwd": "w", "hook_event_name": name}
    return {**base, **fields}


def vscode(name: str, **fields: object) -> dict[str, object]:
    base = {
        "sessionId": "s",
        "timestamp": "2026-02-09T10:30:00.000Z",
        "cwd": "w",
        "transcript_path": "t.json",
    }
    return {**base, "hookEventName": name, **fields}


def cursor(name: str, **fields: object) -> dict[str, object]:
    base = {"conversation_id": "s", "generation_id": "g", "model": "m", "cursor_version": "3.7.21"}
    return {**base, "workspace_roots": ["/project"], "hook_event_name": name, **fields}


def gemini(name: str, **fields: object) -> dict[str, object]:
    base = {"session_id": "s", "transcript_path": "t.jsonl", "cwd": "w", "timestamp": "2026-11-23T16:11:35Z"}
    return {**base, "hook_event_name": name, **fields}


def shell(output: str) -> dict[str, str]:
    text = f"<untrusted_context>\n{output}\nProcess Group PGID: 22255\n</untrusted_context>"
    return {"llmContent": text, "returnDisplay": "none"}


def told(text: str, kind: str = "success") -> dict[str, str]:
    return {"result_type": kind, "text_result_for_llm": text}


BATCH = [
    {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1", "tool_response": "a.txt"},
    {
        "tool_name": "Read",
        "tool_input": {"file_path": "a"},
        "tool_use_id": "t2",
        "tool_response": [{"type": "text", "text": "x"}],
    },
]
PLUGIN = {
    "event": "tool",
    "session": "s",
    "id": "c1",
    "tool": "bash",
    "args": {"command": "ls"},
    "batch": "b",
}
NPM = {
    "tool_name": "Shell",
    "tool_input": {"command": "npm test"},
    "tool_use_id": "abc123",
    "cwd": "/project",
}
LIST = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
COMMAND = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}

# codec, event, kind, calls as (name, args, result, failed, batch)
CALLS = [
    (CLAUDE, claude("PostToolBatch", tool_calls=BATCH), StepKind.TOOLS, [
        ("Bash", {"command": "ls"}, "a.txt", False, "t1"), ("Read", {"file_path": "a"}, "x", False, "t1")]),
    (CLAUDE, claude("PostToolUseFailure", tool_name="Bash", tool_input={}, tool_use_id="t1", error="Exit code 3"),
        StepKind.FAILURE, [("Bash", None, None, True, None)]),
    (CLAUDE, claude("PostToolBatch", tool_calls=[{"tool_name": "Bash"}]), StepKind.TOOLS, [("Bash", None, None, False, ...)]),
    (CLAUDE, claude("PostToolBatch", tool_calls="none"), StepKind.TOOLS, []),
    (CODEX, codex("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="a\n", tool_use_id="c1"),
        StepKind.TOOLS, [("Bash", {"command": "ls"}, "a\n", False, None)]),
    (CODEX, codex("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="c1",
        tool_response="Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno such file"),
        StepKind.TOOLS, [("Bash", {"command": "ls"}, "no such file", True, None)]),
    (COPILOT, copilot("PostToolUse", **LIST, tool_result=told("a\n<shellId: 7 completed with exit code 0>")),
        StepKind.TOOLS, [("Bash", {"command": "ls"}, "a\n<exit code 0>", False, None)]),
    (COPILOT, copilot("PostToolUse", **LIST, tool_result=told("\n<shellId: 8 completed with exit code 2>")),
        StepKind.TOOLS, [("Bash", {"command": "ls"}, "\n<exit code 2>", True, None)]),
    (COPILOT, copilot("PostToolUse", **LIST, tool_result=told("no", "denied")),
        StepKind.TOOLS, [("Bash", {"command": "ls"}, "no", True, None)]),
    (COPILOT, copilot("PostToolUseFailure", **LIST, error="no such tool"),
        StepKind.TOOLS, [("Bash", {"command": "ls"}, "no such tool", True, None)]),
    (COPILOT, vscode("PostToolUse", tool_name="editFiles", tool_input={"files": ["a"]}, tool_use_id="tool-123",
        tool_response="File edited successfully"),
        StepKind.TOOLS, [("editFiles", {"files": ["a"]}, "File edited successfully", False, None)]),
    (CURSOR, cursor("postToolUse", **NPM, tool_output='{"exitCode":0,"stdout":"All tests passed"}', duration=5432),
        StepKind.TOOLS, [("Shell", {"command": "npm test"}, "All tests passed", False, None)]),
    (CURSOR, cursor("postToolUse", **NPM, tool_output='{"output":"1 failing","exitCode":1}'),
        StepKind.TOOLS, [("Shell", {"command": "npm test"}, "1 failing", True, None)]),
    (CURSOR, cursor("postToolUse", **NPM, tool_output="[1"),
        StepKind.TOOLS, [("Shell", {"command": "npm test"}, "[1", False, None)]),
    (CURSOR, cursor("postToolUseFailure", **NPM, error_message="Command timed out after 30s", failure_type="timeout"),
        StepKind.TOOLS, [("Shell", {"command": "npm test"}, "Command timed out after 30s", True, None)]),
    (GEMINI, gemini("AfterTool", **COMMAND, tool_response=shell("Output: none")),
        StepKind.TOOLS, [("run_shell_command", {"command": "ls"}, "Output: none\n", False, None)]),
    (GEMINI, gemini("AfterTool", **COMMAND, tool_response=shell("Output: (empty)\nExit Code: 3")),
        StepKind.TOOLS, [("run_shell_command", {"command": "ls"}, "Output: (empty)\nExit Code: 3\n", True, None)]),
    (GEMINI, gemini("AfterTool", **COMMAND, tool_response={"llmContent": "gone", "error": {"message": "gone"}}),
        StepKind.TOOLS, [("run_shell_command", {"command": "ls"}, "gone", True, None)]),
    (OPENCODE, {**PLUGIN, "output": "a.txt"}, StepKind.TOOLS, [("bash", {"command": "ls"}, "a.txt", False, "b")]),
    (OPENCODE, {**PLUGIN, "output": "gone", "failed": True}, StepKind.TOOLS, [("bash", {"command": "ls"}, "gone", True, "b")]),
]  # fmt: skip


@pytest.mark.parametrize(("codec", "event", "kind", "calls"), CALLS)
def test_calls(codec, event, kind, calls) -> None:
    """A call has its arguments, its answer, and whether it failed; what is not told is not known."""
    step = codec.read(event)
    assert step.kind is kind
    assert step.agent == MAIN
    assert len(step.calls) == len(calls)
    for item, (name, args, result, failed, batch) in zip(step.calls, calls, strict=True):
        call = item.call
        assert (call.name, call.args, call.result, call.error) == (name, args, result, failed)
        assert batch is ... or call.batch == batch
        assert item.key


KINDS = [
    (CLAUDE, claude("SessionStart", source="startup"), StepKind.START),
    (CLAUDE, claude("SessionEnd", reason="other"), StepKind.END),
    (CLAUDE, claude("UserPromptSubmit", prompt="Go on."), StepKind.PROMPT),
    (CLAUDE, claude("SubagentStop", agent_id="a1", agent_transcript_path="a.jsonl"), StepKind.SIDE_END),
    (CLAUDE, claude("PreToolUse"), StepKind.SPAWN),
    (CLAUDE, claude("Notification"), None),
    (CODEX, codex("SessionStart", source="startup"), StepKind.START),
    (CODEX, codex("UserPromptSubmit", prompt="Go on."), StepKind.PROMPT),
    (CODEX, codex("SessionEnd", reason="other"), StepKind.END),
    (CODEX, codex("PreModelRequest"), None),
    (COPILOT, copilot("SessionStart", source="new", initial_prompt="Go on."), StepKind.START),
    (COPILOT, copilot("UserPromptSubmit", prompt="Go on."), StepKind.PROMPT),
    (COPILOT, vscode("UserPromptSubmit", prompt="Go on."), StepKind.PROMPT),
    (COPILOT, copilot("Stop", stop_reason="end_turn", transcript_path="events.jsonl"), StepKind.REPORT),
    (COPILOT, copilot("SessionEnd", reason="complete"), StepKind.END),
    (COPILOT, copilot("PreCompact"), None),
    (CURSOR, cursor("sessionStart", session_id="s", is_background_agent=False), StepKind.START),
    (CURSOR, cursor("beforeSubmitPrompt", prompt="Go on.", attachments=[]), StepKind.PROMPT),
    (CURSOR, cursor("sessionEnd", session_id="s", reason="completed"), StepKind.END),
    (CURSOR, cursor("afterFileEdit", file_path="/a", edits=[]), None),
    (GEMINI, gemini("SessionStart", source="startup"), StepKind.START),
    (GEMINI, gemini("BeforeAgent", prompt="Go on."), StepKind.PROMPT),
    (GEMINI, gemini("SessionEnd", reason="exit"), StepKind.END),
    (GEMINI, gemini("BeforeModel"), None),
    (OPENCODE, {"event": "prompt", "session": "s", "id": "m1", "prompt": "Go on."}, StepKind.PROMPT),
    (OPENCODE, {"event": "model", "session": "s", "id": "p1"}, StepKind.MODEL),
    (OPENCODE, {"event": "end", "session": "s"}, StepKind.END),
    (OPENCODE, {"event": "other", "session": "s"}, None),
]


@pytest.mark.parametrize(("codec", "event", "kind"), KINDS)
def test_kinds(codec, event, kind) -> None:
    step = codec.read(event)
    assert (None if step is None else step.kind) is kind
    if kind is StepKind.PROMPT:
        assert step.prompt == "Go on."


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "event", [{}, {"session_id": 5, "hook_event_name": []}, {"session_id": "s"}, {"session": {}}]
)
def test_what_is_no_event_says_nothing(codec, event) -> None:
    assert codec.read(event) is None


@pytest.mark.parametrize("codec", CODECS)
def test_known_calls_are_alike_and_distinct(codec) -> None:
    """Equal but for what identifies them, as those of a loop are."""
    steps = [codec.read(codec.known_call(number)) for number in range(3)]
    assert {step.kind for step in steps} == {StepKind.TOOLS}
    calls = [item for step in steps for item in step.calls]
    assert len({item.key for item in calls}) == 3
    contents = {
        (call.name, str(call.args), call.result, call.error) for call in (item.call for item in calls)
    }
    assert len(contents) == 1


def test_a_sub_agent_is_a_chain_of_its_own() -> None:
    step = CLAUDE.read(claude("PostToolBatch", agent_id="a1", agent_type="Explore", tool_calls=BATCH))
    assert step is not None
    assert step.agent == "a1"
    assert {item.call.chain_id for item in step.calls} == {"a1"}


@pytest.mark.parametrize("prompt", ["<task-notification>done</task-notification>", None])
def test_what_the_harness_says_is_no_word_of_a_person(prompt) -> None:
    step = CLAUDE.read(claude("UserPromptSubmit", prompt=prompt))
    assert step is not None
    assert step.prompt is None


def test_a_schedule_is_no_person() -> None:
    step = CLAUDE.read(claude("UserPromptSubmit", prompt="Go on.", source="loop_wakeup"))
    assert step is not None
    assert step.prompt is None


SWITCHES = [
    ("ebbtide off", Switch.OFF, True),
    ("  Ebbtide OFF. ", Switch.OFF, True),
    ("Go on.\nebbtide off\nThen test.", Switch.OFF, False),
    ('"Go on.\nebbtide off"', Switch.OFF, False),
    ("ebbtide off\nebbtide on", Switch.ON, True),
    ("Say ebbtide off to it", None, False),
    ("turn ebbtide off", None, False),
    ("ebbtide offline", None, False),
    ("", None, False),
]


@pytest.mark.parametrize(("prompt", "switch", "is_alone"), SWITCHES)
def test_the_switch_is_a_line_of_its_own(prompt, switch, is_alone) -> None:
    step = CODEX.read(codex("UserPromptSubmit", prompt=prompt))
    assert step is not None
    assert (step.switch, step.is_switch_alone) == (switch, is_alone)


def added(name: str) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "note"}}


ANSWERS = [
    (CLAUDE, claude("PostToolBatch"), HookReply(), {}),
    (CLAUDE, claude("PostToolBatch"), HookReply(note="note"), added("PostToolBatch")),
    (CLAUDE, claude("PostToolBatch"), HookReply(end="why"), {"continue": False, "stopReason": "why", "systemMessage": "why"}),
    (CLAUDE, claude("UserPromptSubmit"), HookReply(message="off", drops_prompt=True), {"decision": "block", "reason": "off"}),
    (CODEX, codex("PostToolUse"), HookReply(note="note", message="m"), {**added("PostToolUse"), "systemMessage": "m"}),
    (CODEX, codex("PostToolUse"), HookReply(end="why"), {}),
    (COPILOT, copilot("PostToolUse"), HookReply(note="note"), {"additionalContext": "note", **added("PostToolUse")}),
    (COPILOT, copilot("PostToolUse"), HookReply(end="why"), {}),
    (COPILOT, copilot("Stop"), HookReply(correction="why"), {"decision": "block", "reason": "why",
        "hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": "why"}}),
    (COPILOT, copilot("UserPromptSubmit"), HookReply(message="off", drops_prompt=True), {"decision": "block", "reason": "off"}),
    (CURSOR, cursor("postToolUse"), HookReply(note="note"), {"additional_context": "note"}),
    (CURSOR, cursor("postToolUseFailure"), HookReply(note="note"), {}),
    (CURSOR, cursor("beforeSubmitPrompt"), HookReply(message="off", drops_prompt=True), {"continue": False, "user_message": "off"}),
    (GEMINI, gemini("AfterTool"), HookReply(note="note"), added("AfterTool")),
    (GEMINI, gemini("AfterTool"), HookReply(end="why"), {"continue": False, "stopReason": "why"}),
    (OPENCODE, PLUGIN, HookReply(note="note", end="why"), {"note": "note", "end": "why"}),
    (OPENCODE, PLUGIN, HookReply(), {}),
]  # fmt: skip


@pytest.mark.parametrize(("codec", "event", "reply", "answer"), ANSWERS)
def test_answers(codec, event, reply, answer) -> None:
    assert codec.answer(codec.read(event), reply) == answer


def test_tokens_of_the_plugin() -> None:
    """The output includes the reasoning, as everywhere."""
    tokens = {"input": 10, "output": 4, "reasoning": 3, "cache": {"read": 2, "write": 1}}
    step = OPENCODE.read(
        {"event": "model", "session": "s", "id": "p", "tokens": tokens, "cost": 0.1, "model": "m"}
    )
    assert step is not None
    usage = step.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == (10, 7, 3)
    assert (usage.cache_read_tokens, usage.cache_write_tokens, usage.cost_usd, usage.model) == (
        2,
        1,
        0.1,
        "m",
    )


def test_the_session_file_of_copilot_is_found_by_its_session(tmp_path, monkeypatch) -> None:
    """Its events do not name it but for the last; a session without a file, as in VS Code, has none."""
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    file = tmp_path / "session-state" / "s" / "events.jsonl"
    for path in (None, str(file)):
        step = COPILOT.read(copilot("PostToolUse", **LIST))
        assert step is not None
        assert step.transcript == path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
