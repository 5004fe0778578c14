"""Hooks of Codex.

``PostToolUse`` comes for each call, and what it adds reaches the model. No hook ends a run: ``continue`` is
passed over, also before a call of the model. It does not say that a command failed. The session file
separates the calls of one answer, and has the tokens, too. Tried with 0.169.0. Source:
https://developers.openai.com/codex/hooks
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from ebbtide.adapters.answer_text import answer_text
from ebbtide.adapters.hooks.step import PROBE, HookCodec, StepKind, answer_step, read_step
from ebbtide.traces.agents.codex import CodexReader, outcome

_KINDS: Final = {
    "SessionStart": StepKind.START,
    "UserPromptSubmit": StepKind.PROMPT,
    "PostToolUse": StepKind.TOOLS,
    "Stop": StepKind.REPORT,
    "SessionEnd": StepKind.END,
}


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
    kinds=_KINDS,
    read=partial(read_step, kinds=_KINDS, outcome=_outcome),
    answer=answer_step,
    can_end=False,
    reader=lambda _: CodexReader(),  # a thread has one file
    known_call=_known_call,
)
