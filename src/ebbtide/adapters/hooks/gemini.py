"""Hooks of Gemini CLI.

``AfterTool`` comes for each call, without an id; what it adds lands in the answer of the tool, and
``continue: false`` ends the run. ``AfterModel`` would state tokens, but costs a process for each piece of a
stream: the session file has them with each answer, and separates the calls of one answer from those of the
next. Tried with 0.61.0. Source: docs/hooks/reference.md of https://github.com/google-gemini/gemini-cli
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ebbtide.adapters.answer_text import answer_text
from ebbtide.adapters.hooks.step import (
    PROBE,
    HookCodec,
    HookReply,
    HookStep,
    StepKind,
    answer_step,
    read_step,
)
from ebbtide.traces.agents.gemini_cli import GeminiCliReader
from ebbtide.traces.records.fields import mapping, text

_KINDS: Final = {
    "SessionStart": StepKind.START,
    "BeforeAgent": StepKind.PROMPT,
    "AfterTool": StepKind.TOOLS,
    "AfterAgent": StepKind.REPORT,
    "SessionEnd": StepKind.END,
}
_WRAPPING: Final = re.compile(r"^</?untrusted_context>\n?|^Process Group PGID: \d+\n?", re.MULTILINE)
_EXIT_CODE: Final = re.compile(r"^Exit Code: (\d+)$", re.MULTILINE)


def _read(event: Mapping[str, Any]) -> HookStep | None:
    step = read_step(event, kinds=_KINDS, outcome=_outcome)
    if step is None or step.kind is not StepKind.REPORT:
        return step
    return replace(step, report=text(event.get("prompt_response")))


def _answer(step: HookStep, reply: HookReply) -> dict[str, Any]:
    if reply.end:
        return {"continue": False, "stopReason": reply.end}
    answer = answer_step(step, reply, refusal="deny")
    return {**answer, "systemMessage": reply.message} if reply.drops_prompt else answer


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
    kinds=_KINDS,
    read=_read,
    answer=_answer,
    can_end=True,
    reader=GeminiCliReader,
    known_call=_known_call,
)
