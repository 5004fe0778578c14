"""Hooks of Cursor, by its documentation alone: they were not tried with Cursor.

``postToolUse`` comes for each call that succeeded, and what it adds reaches the model after the answer of the
tool; ``postToolUseFailure`` comes for the others, and takes no words. No hook ends a run, and none states
tokens. Source: https://cursor.com/docs/hooks
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ebbtide.adapters.answer_text import answer_text
from ebbtide.adapters.hooks.step import PROBE, HookCodec, HookReply, HookStep, StepKind, read_step
from ebbtide.traces.records.fields import items, mapping, text

_KINDS: Final = {
    "sessionStart": StepKind.START,
    "beforeSubmitPrompt": StepKind.PROMPT,
    "postToolUse": StepKind.TOOLS,
    "postToolUseFailure": StepKind.TOOLS,
    "sessionEnd": StepKind.END,
}
#: The same prompt said twice has another generation.
_IDS: Final = dict.fromkeys((StepKind.START, StepKind.PROMPT, StepKind.END), "generation_id")
_OUTPUTS: Final = ("output", "stdout", "stderr")


def _read(event: Mapping[str, Any]) -> HookStep | None:
    sessions = ("conversation_id", "session_id")
    step = read_step(event, kinds=_KINDS, outcome=_outcome, sessions=sessions, ids=_IDS)
    if step is None:
        return None
    folders = (text(root) for root in items(event.get("workspace_roots")))
    return replace(step, folder=next(filter(None, folders), None))


def _answer(step: HookStep, reply: HookReply) -> dict[str, Any]:
    """Returns the answer to an event: a failed call takes none."""
    if reply.drops_prompt:
        return {"continue": False, "user_message": reply.message}
    return {"additional_context": reply.note} if reply.note and step.event == "postToolUse" else {}


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
    kinds=_KINDS,
    read=_read,
    answer=_answer,
    can_end=False,
    reader=None,
    known_call=_known_call,
)
