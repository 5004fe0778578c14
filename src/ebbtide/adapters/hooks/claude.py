"""Hooks of Claude Code.

``PostToolBatch`` reports all calls of one answer of the model at once, after them and before the model is
called again; ``PostToolUseFailure`` before it reports that a call failed, and ``PreToolUse`` that an agent is
about to be started. Tokens, and what other hooks put in, stand in the session file
alone. Tried with 2.1.330. Source: https://code.claude.com/docs/en/hooks
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ebbtide.adapters.answer_text import answer_text
from ebbtide.adapters.hooks.step import (
    MAIN,
    PROBE,
    HookCodec,
    HookReply,
    HookStep,
    IdentifiedCall,
    StepKind,
    answer_step,
    fingerprint,
    read_step,
)
from ebbtide.events.event import Phase, ToolCall
from ebbtide.traces.agents.claude_code import ClaudeCodeReader
from ebbtide.traces.records.fields import identifier, items, mapping, text
from ebbtide.traces.records.injected_words import is_injected

_KINDS: Final = {
    "SessionStart": StepKind.START,
    "UserPromptSubmit": StepKind.PROMPT,
    "PreToolUse": StepKind.SPAWN,
    "PostToolUseFailure": StepKind.FAILURE,
    "PostToolBatch": StepKind.TOOLS,
    "PreCompact": StepKind.COMPACT,
    "Stop": StepKind.REPORT,
    "SubagentStop": StepKind.SIDE_END,
    "SessionEnd": StepKind.END,
}


def _read(event: Mapping[str, Any]) -> HookStep | None:
    step = read_step(event, kinds=_KINDS, ids={StepKind.PROMPT: "prompt_id"})
    if step is None:
        return None
    agent = identifier(event.get("agent_id")) or MAIN
    file = step.transcript if step.kind is not StepKind.SIDE_END else text(event.get("agent_transcript_path"))
    return replace(
        step,
        agent=agent,
        calls=_CALLS.get(step.kind, _calls)(event, agent),
        is_batch=True,
        prompt=_prompt(event),
        transcript=file,
        goes_on=step.kind is StepKind.START and event.get("source") in ("compact", "resume"),
    )


def _answer(step: HookStep, reply: HookReply) -> dict[str, Any]:
    if reply.end:
        # Without a terminal the reason for stopping is not shown, and a message is in the output of `-p`.
        return {"continue": False, "stopReason": reply.end, "systemMessage": reply.end}
    return answer_step(step, reply)


def _calls(event: Mapping[str, Any], agent: str) -> tuple[IdentifiedCall, ...]:
    calls = [mapping(call) for call in items(event.get("tool_calls"))]
    batch = next((key for call in calls if (key := identifier(call.get("tool_use_id")))), None)
    return tuple(
        _call(call, agent, batch or fingerprint(event), number)
        for number, call in enumerate(calls)
        if text(call.get("tool_name"))
    )


def _call(call: Mapping[str, Any], agent: str, batch: str, number: int) -> IdentifiedCall:
    return IdentifiedCall(
        key=identifier(call.get("tool_use_id")) or f"{batch} {number}",
        call=ToolCall(
            name=text(call.get("tool_name")) or "tool",
            args=call.get("tool_input"),
            result=answer_text(call["tool_response"]) if "tool_response" in call else None,
            chain_id=agent,
            batch=batch,
        ),
    )


def _failure(event: Mapping[str, Any], agent: str) -> tuple[IdentifiedCall, ...]:
    key, name = identifier(event.get("tool_use_id")), text(event.get("tool_name"))
    if key is None or name is None:
        return ()
    return (IdentifiedCall(key=key, call=ToolCall(name=name, error=True, chain_id=agent)),)


def _start(event: Mapping[str, Any], agent: str) -> tuple[IdentifiedCall, ...]:
    key, name = identifier(event.get("tool_use_id")) or fingerprint(event), text(event.get("tool_name"))
    if name is None:
        return ()
    call = ToolCall(name=name, args=event.get("tool_input"), chain_id=agent, phase=Phase.STARTED)
    return (IdentifiedCall(key=f"start {key}", call=call),)


_CALLS: Final = {StepKind.FAILURE: _failure, StepKind.SPAWN: _start}


def _prompt(event: Mapping[str, Any]) -> str | None:
    """Returns what a person says; what a schedule or the harness says in their name is none of theirs."""
    words, source = text(event.get("prompt")), text(event.get("source")) or ""
    return None if words is None or is_injected(words) or "wakeup" in source else words


def _known_call(number: int) -> dict[str, Any]:
    call = {"tool_name": "Bash", "tool_input": {"command": PROBE}, "tool_response": "none"}
    event = {"session_id": PROBE, "hook_event_name": "PostToolBatch"}
    return {**event, "tool_calls": [{**call, "tool_use_id": f"{PROBE} {number}"}]}


CLAUDE: Final = HookCodec(
    name="claude",
    title="Claude Code",
    kinds=_KINDS,
    read=_read,
    answer=_answer,
    can_end=True,
    reader=ClaudeCodeReader,
    known_call=_known_call,
)
