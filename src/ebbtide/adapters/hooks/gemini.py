"""Hooks of Gemini CLI.

``AfterTool`` comes for each call, without an id; what it adds lands in the answer of the tool, and
``continue: false`` ends the run. ``AfterModel`` would state tokens, but costs a process for each piece of a
stream: the session file has them with each answer, and separates the calls of one answer from those of the
next. Tried with 0.61.0. Source: docs/hooks/reference.md of https://github.com/google-gemini/gemini-cli
"""

from __future__ import annotations

import re
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
from ebbtide.traces.agents.gemini_cli import GeminiCliReader
from ebbtide.traces.records.fields import identifier, mapping, text

_KINDS: Final = {
    "SessionStart": StepKind.START,
    "BeforeAgent": StepKind.PROMPT,
    "AfterTool": StepKind.TOOLS,
    "AfterAgent": StepKind.REPORT,
    "SessionEnd": StepKind.END,
}
_WRAPPING: Final = re.compile(r"^</?untrusted_context>\n?|^Process Group PGID: \d+\n?", re.MULTILINE)
_EXIT_CODE: Final = re.compile(r"^Exit Code: (\d+)$", re.MULTILINE)


def read_gemini(event: Mapping[str, Any]) -> HookStep | None:
    """Returns the step that an event of Gemini CLI is; None if it says nothing to us."""
    session, name = identifier(event.get("session_id")), text(event.get("hook_event_name")) or ""
    kind = _KINDS.get(name)
    if session is None or kind is None:
        return None
    key = f"{name} {fingerprint(event)}"
    return HookStep(
        kind=kind,
        event=name,
        session=session,
        key=key,
        calls=ended_call(event, key, _outcome) if kind is StepKind.TOOLS else (),
        prompt=text(event.get("prompt")) if kind is StepKind.PROMPT else None,
        transcript=text(event.get("transcript_path")),
        folder=text(event.get("cwd")),
        is_new=kind is StepKind.START and event.get("source") == "startup",
        report=text(event.get("prompt_response")) if kind is StepKind.REPORT else None,
        is_again=event.get("stop_hook_active") is True,
    )


def answer_gemini(step: HookStep, reply: HookReply) -> dict[str, Any]:
    """Returns the answer to an event, for Gemini CLI."""
    if reply.drops_prompt:
        return {"decision": "deny", "reason": reply.message, "systemMessage": reply.message}
    if reply.correction:
        return {"decision": "deny", "reason": reply.correction}
    answer: dict[str, Any] = {}
    if reply.message:
        answer["systemMessage"] = reply.message
    if reply.end:
        answer |= {"continue": False, "stopReason": reply.end}
    elif reply.note:
        answer["hookSpecificOutput"] = {"hookEventName": step.event, "additionalContext": reply.note}
    return answer


def _outcome(event: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Returns what a tool gave, without the number of its process, and whether it failed."""
    if "tool_response" not in event:
        return None, False
    response = event["tool_response"]
    fields = mapping(response)
    words = answer_text(fields.get("llmContent", response))
    failed = bool(fields.get("error"))
    if words is not None:
        words = _WRAPPING.sub("", words)
        code = _EXIT_CODE.search(words)
        failed = failed or (code is not None and int(code[1]) != 0)
    return words, failed


def _known_call(number: int) -> dict[str, Any]:
    call = {"tool_name": "run_shell_command", "tool_input": {"command": PROBE}}
    event = {"session_id": PROBE, "hook_event_name": "AfterTool", "timestamp": str(number)}
    return {**event, **call, "tool_response": {"llmContent": "Output: none"}}


GEMINI: Final = HookCodec(
    name="gemini",
    title="Gemini CLI",
    read=read_gemini,
    answer=answer_gemini,
    can_end=True,
    reader=GeminiCliReader,
    known_call=_known_call,
)
