"""Hooks of Cursor, by its documentation alone: they were not tried with Cursor.

``postToolUse`` comes for each call that succeeded, and what it adds reaches the model after the answer of the
tool; ``postToolUseFailure`` comes for the others, and takes no words. No hook ends a run, and none states
tokens. Source: https://cursor.com/docs/hooks
"""

from __future__ import annotations

import json
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
from ebbtide.traces.records.fields import identifier, items, mapping, text

_KINDS: Final = {
    "sessionStart": StepKind.START,
    "beforeSubmitPrompt": StepKind.PROMPT,
    "postToolUse": StepKind.TOOLS,
    "postToolUseFailure": StepKind.TOOLS,
    "sessionEnd": StepKind.END,
}
_OUTPUTS: Final = ("output", "stdout", "stderr")


def read_cursor(event: Mapping[str, Any]) -> HookStep | None:
    """Returns the step that an event of Cursor is; None if it says nothing to us."""
    session = identifier(event.get("conversation_id")) or identifier(event.get("session_id"))
    name = text(event.get("hook_event_name")) or ""
    kind = _KINDS.get(name)
    if session is None or kind is None:
        return None
    key = f"{name} {_identity(event, kind)}"
    return HookStep(
        kind=kind,
        event=name,
        session=session,
        key=key,
        calls=ended_call(event, key, _outcome) if kind is StepKind.TOOLS else (),
        prompt=text(event.get("prompt")) if kind is StepKind.PROMPT else None,
        folder=next((folder for root in items(event.get("workspace_roots")) if (folder := text(root))), None),
        is_new=kind is StepKind.START,
    )


def answer_cursor(step: HookStep, reply: HookReply) -> dict[str, Any]:
    """Returns the answer to an event, for Cursor: a failed call takes none."""
    if reply.drops_prompt:
        return {"continue": False, "user_message": reply.message}
    return {"additional_context": reply.note} if reply.note and step.event == "postToolUse" else {}


def _identity(event: Mapping[str, Any], kind: StepKind) -> str:
    """Returns what distinguishes an event: the same prompt said twice has another generation."""
    own = event.get("tool_use_id") if kind is StepKind.TOOLS else event.get("generation_id")
    return identifier(own) or fingerprint(event)


def _outcome(event: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Returns what a tool gave, and whether it failed: a command has its exit code in JSON in a text."""
    if "tool_output" not in event:
        return text(event.get("error_message")), "error_message" in event
    output = event["tool_output"]
    try:
        value = mapping(json.loads(output)) if isinstance(output, str) else {}
    except ValueError:
        value = {}
    code = value.get("exitCode")
    parts = [part for name in _OUTPUTS if (part := text(value.get(name))) is not None]
    return "\n".join(parts) if parts else answer_text(output), type(code) is int and code != 0


def _known_call(number: int) -> dict[str, Any]:
    output = json.dumps({"exitCode": 0, "stdout": "none"})
    call = {"tool_name": "Shell", "tool_input": {"command": PROBE}, "tool_output": output}
    event = {"conversation_id": PROBE, "hook_event_name": "postToolUse"}
    return {**event, **call, "tool_use_id": f"{PROBE} {number}"}


CURSOR: Final = HookCodec(
    name="cursor",
    title="Cursor",
    read=read_cursor,
    answer=answer_cursor,
    can_end=False,
    reader=None,
    known_call=_known_call,
)
