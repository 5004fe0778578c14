"""Hooks of Codex.

``PostToolUse`` comes for each call, and what it adds reaches the model. No hook ends a run: ``continue`` is
passed over, also before a call of the model. It does not say that a command failed. The session file
separates the calls of one answer, and has the tokens, too. Tried with 0.169.0. Source:
https://developers.openai.com/codex/hooks
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ebbtide.adapters.answer_text import answer_text
from ebbtide.adapters.hooks.step import (
    PROBE,
    HookCodec,
    HookReply,
    HookStep,
    StepKind,
    ended_call,
    fingerprint,
)
from ebbtide.traces.agents.codex import CodexReader, outcome
from ebbtide.traces.records.fields import identifier, text

_KINDS: Final = {
    "SessionStart": StepKind.START,
    "UserPromptSubmit": StepKind.PROMPT,
    "PostToolUse": StepKind.TOOLS,
    "Stop": StepKind.REPORT,
    "SessionEnd": StepKind.END,
}


def read_codex(event: Mapping[str, Any]) -> HookStep | None:
    """Returns the step that an event of Codex is; None if it says nothing to us."""
    session, name = identifier(event.get("session_id")), text(event.get("hook_event_name")) or ""
    kind = _KINDS.get(name)
    if session is None or kind is None:
        return None
    key = identifier(event.get("tool_use_id")) or fingerprint(event)
    return HookStep(
        kind=kind,
        event=name,
        session=session,
        key=f"{name} {key}",
        calls=ended_call(event, key, _outcome) if kind is StepKind.TOOLS else (),
        prompt=text(event.get("prompt")),
        transcript=text(event.get("transcript_path")),
        folder=text(event.get("cwd")),
        is_new=kind is StepKind.START and event.get("source") == "startup",
        report=text(event.get("last_assistant_message")) if kind is StepKind.REPORT else None,
        is_again=event.get("stop_hook_active") is True,
    )


def answer_codex(step: HookStep, reply: HookReply) -> dict[str, Any]:
    """Returns the answer to an event, for Codex."""
    if reply.drops_prompt:
        return {"decision": "block", "reason": reply.message}
    if reply.correction:
        return {"decision": "block", "reason": reply.correction}
    answer: dict[str, Any] = {}
    if reply.message:
        answer["systemMessage"] = reply.message
    if reply.note:
        answer["hookSpecificOutput"] = {"hookEventName": step.event, "additionalContext": reply.note}
    return answer


def _outcome(event: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Returns what a tool gave, and whether it is known to have failed."""
    if "tool_response" not in event:
        return None, False
    result, failed = outcome(event["tool_response"])
    return answer_text(result), failed is True


def _known_call(number: int) -> dict[str, Any]:
    call = {"tool_name": "Bash", "tool_input": {"command": PROBE}, "tool_response": "none"}
    event = {"session_id": PROBE, "hook_event_name": "PostToolUse"}
    return {**event, **call, "tool_use_id": f"{PROBE} {number}"}


CODEX: Final = HookCodec(
    name="codex",
    title="Codex",
    read=read_codex,
    answer=answer_codex,
    can_end=False,
    reader=lambda _: CodexReader(),  # a thread has one file
    known_call=_known_call,
)
