"""Hooks of Copilot CLI, and of VS Code, which reads the same files.

The names of the events begin with a capital letter here: then both send ``session_id`` and ``tool_name``.
``PostToolUse`` comes for each call, ``PostToolUseFailure`` for one that failed, and what they add reaches the
model with the answer of the tool. No hook ends a run: ``continue`` is passed over. The session file separates
the calls of one answer, and has the tokens; ``Stop`` alone names it. Copilot CLI was tried with 1.0.102, VS
Code was not. Sources: https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference
and https://code.visualstudio.com/docs/agents/reference/hooks-reference
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ebbtide.adapters.answer_text import answer_text
from ebbtide.adapters.hooks.step import PROBE, HookCodec, HookReply, HookStep, StepKind, read_step
from ebbtide.traces.agents.copilot_cli import CopilotCliReader
from ebbtide.traces.records.fields import mapping
from ebbtide.traces.sessions.agent_homes import AGENT_HOMES, CodingAgent, folders_of

_KINDS: Final = {
    "SessionStart": StepKind.START,
    "UserPromptSubmit": StepKind.PROMPT,
    "PostToolUse": StepKind.TOOLS,
    "PostToolUseFailure": StepKind.TOOLS,
    "Stop": StepKind.REPORT,
    "SessionEnd": StepKind.END,
}
_HOME: Final = next(home for home in AGENT_HOMES if home.agent is CodingAgent.COPILOT)
#: Its number is another one for each command, so that equal answers would differ.
_SHELL: Final = re.compile(r"<shellId: \d+ completed with exit code (\d+)>\s*$")


def _read(event: Mapping[str, Any]) -> HookStep | None:
    step = read_step(
        event,
        kinds=_KINDS,
        outcome=_outcome,
        names=("hook_event_name", "hookEventName"),
        sessions=("session_id", "sessionId"),
    )
    if step is None or step.transcript is not None:
        return step
    return replace(step, transcript=_session_file(step.session))


def _answer(step: HookStep, reply: HookReply) -> dict[str, Any]:
    """Returns the answer to an event: Copilot CLI reads its fields at the top, VS Code those below."""
    if reply.drops_prompt:
        return {"decision": "block", "reason": reply.message}
    answer: dict[str, Any] = {}
    if reply.correction:
        answer = {"decision": "block", "reason": reply.correction}
    elif reply.note:
        answer = {"additionalContext": reply.note}
    if answer:
        answer["hookSpecificOutput"] = {"hookEventName": step.event, **answer}
    if reply.message:
        answer["systemMessage"] = reply.message
    return answer


def _outcome(event: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Returns what a tool gave, without the number of its shell, and whether it failed."""
    result = mapping(event.get("tool_result"))
    answers = (event.get("error"), result.get("text_result_for_llm"), event.get("tool_response"))
    words = answer_text(next((answer for answer in answers if answer is not None), None))
    failed = "error" in event or result.get("result_type") in ("failure", "error", "denied")
    if words is not None and (shell := _SHELL.search(words)):
        return f"{words[: shell.start()]}<exit code {shell[1]}>", failed or int(shell[1]) != 0
    return words, failed


def _session_file(session: str) -> str | None:
    """Returns the path of the file that Copilot CLI writes; None where there is none, as in VS Code."""
    for folder in folders_of(_HOME, os.environ):
        path = Path(folder, Path(session).name, "events.jsonl")
        if path.exists():
            return str(path)
    return None


def _known_call(number: int) -> dict[str, Any]:
    result = {"result_type": "success", "text_result_for_llm": "none"}
    call = {"tool_name": "Bash", "tool_input": {"command": PROBE}, "tool_result": result}
    return {"session_id": PROBE, "hook_event_name": "PostToolUse", "timestamp": str(number), **call}


COPILOT: Final = HookCodec(
    name="copilot",
    title="Copilot",
    kinds=_KINDS,
    read=_read,
    answer=_answer,
    can_end=False,
    reader=lambda _: CopilotCliReader(),  # a session has one file
    known_call=_known_call,
)
