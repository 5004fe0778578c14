"""Records by which sessions of agents are known, and what else tells them."""

from __future__ import annotations

import re
from typing import Final

from ebbtide.events.usage import CLASSES
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.record_sign import ABSENT, RecordSign, is_like
from ebbtide.traces.records.fields import items, joined_text, mapping

CLAUDE_SPEAKERS: Final = ("user", "assistant")
_CLAUDE_MARKS: Final = ("parentUuid", "isSidechain", "leafUuid", "parent_tool_use_id")
CLAUDE_LINE: Final = (
    *({"type": speaker, "message": {"role": speaker}} for speaker in CLAUDE_SPEAKERS),
    *({"type": CLAUDE_SPEAKERS, "message": dict, mark: ...} for mark in _CLAUDE_MARKS),
    {"type": ("file-history-snapshot", "queue-operation", "attachment", "cost-state", "ai-title")},
    {"type": "summary", "leafUuid": ...},
    {"type": re.compile("(?!(?:user|assistant)$)"), "sessionId": ...},
    *({"type": "system", "subtype": ..., name: ...} for name in ("session_id", "uuid")),
)

_CODEX_TURNS: Final = (
    *("thread.started", "turn.started", "turn.completed", "turn.failed"),
    *("item.started", "item.updated", "item.completed"),
)
CODEX_PRINTED: Final = (*_CODEX_TURNS, "error")  # a line of any log may be an error
_CODEX_PROTOCOL: Final = (
    *("task_started", "session_configured", "agent_message", "agent_reasoning", "token_count"),
    "exec_command_begin",
)
_CODEX_LINE: Final = (
    {
        "type": ("session_meta", "response_item", "event_msg", "turn_context", "compacted"),
        "payload": dict,
    },
    {"type": _CODEX_TURNS},
    {"id": ..., "msg": {"type": _CODEX_PROTOCOL}},  # of the early protocol
)
_CODEX_SIGN: Final = RecordSign(
    "no line of type 'session_meta', 'response_item' or 'event_msg' with a payload", _CODEX_LINE
)
#: An item without an envelope.
BARE_CODEX_ITEM: Final = {
    "payload": ABSENT,
    "type": re.compile(r"\A(?:message|reasoning|.*_call(?:_output)?)\Z", re.DOTALL),
}
_OLD_CODEX_HEAD: Final = {"type": ABSENT, "id": ..., "timestamp": ...}
_OLD_CODEX: Final = {"session": _OLD_CODEX_HEAD, "items": [BARE_CODEX_ITEM]}


def refuse_codex(document: Document) -> str | None:
    """Returns why `document` is not of the format codex; None if it is."""
    refusal = _CODEX_SIGN.refuse(document, ("items.item", "item"))
    if refusal != _CODEX_SIGN.lacks:
        return refusal
    # An early version: a head with id and time, then bare items, in lines or a list.
    is_lines = document.content is Content.JSON_LINES
    first, *later = document.head if is_lines else items(document.head[0]) or document.head
    is_old = is_like(first, _OLD_CODEX_HEAD) and is_like(later, [BARE_CODEX_ITEM])
    return None if is_old or is_like(first, _OLD_CODEX) else refusal


#: A line that Gemini CLI prints, by what tells it from one of a chat.
PRINTED_GEMINI_CALL: Final = (
    {"type": "init", "session_id": ..., "model": ...},
    {"type": "tool_use", "tool_name": ..., "tool_id": ...},
    {"type": "tool_result", "tool_id": ..., "status": ...},
)
PRINTED_GEMINI_LINE: Final = (
    *PRINTED_GEMINI_CALL,
    {"type": "result", "status": ..., "stats": ...},
    {"type": "message", "role": ...},
    {"type": "error", "severity": ...},
)

_OPENHANDS_KINDS: Final = (
    *("ActionEvent", "ObservationEvent", "MessageEvent", "AgentErrorEvent", "SystemPromptEvent"),
    *("ConversationStateUpdateEvent", "ConversationErrorEvent", "UserRejectObservation", "PauseEvent"),
    *("ACPToolCallEvent", "HookExecutionEvent", "LLMCompletionLogEvent", "StreamingDeltaEvent", "TokenEvent"),
)
#: An event of V1, or of V0.
OPENHANDS_EVENT: Final = (
    {"kind": (*_OPENHANDS_KINDS, re.compile("Condensation"))},
    *({"action": str, "source": ..., name: ...} for name in ("args", "message")),
    *({"observation": str, "source": ..., name: ...} for name in ("content", "extras")),
)
OPENHANDS_LISTS: Final = ("history", "events", "trajectory")

ATIF_TRAJECTORY: Final = (
    {"schema_version": re.compile("ATIF", re.IGNORECASE)},
    {"steps": [{"step_id": ..., "source": ...}]},
)

_MINI_FORMAT: Final = {"trajectory_format": re.compile("mini-swe-agent")}
_MINI_FINAL: Final = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MICRO_SWE_AGENT_FINAL_OUTPUT")


def refuse_mini_swe_agent(document: Document) -> str | None:
    """Returns why `document` is not of the format mini-swe-agent; None if it is."""
    if document.content is not Content.JSON:
        return "not one JSON value"
    value = document.head[0]
    messages = list(map(mapping, (items(value) or items(mapping(value).get("messages")))[:10]))
    if is_like(value, _MINI_FORMAT) or is_like(messages, [{"extra": {"actions": ...}}]):
        return None
    tasks = [joined_text(message.get("content")) or "" for message in messages[:2]]
    names_end = any(sign in task for task in tasks for sign in _MINI_FINAL)
    if names_end and any(message.get("role") == "assistant" for message in messages):
        return None
    return f"no 'trajectory_format', and no task that names {_MINI_FINAL[0]}"


_STEPS: Final = {"trajectory": [{"action": ..., "observation": ...}]}
SWE_AGENT_RUN: Final = (
    _STEPS,
    {"attempts": [_STEPS]},
    {"trajectory": [], "history": (ABSENT, None, []), "environment": ...},  # it failed before its first step
)
_SWE_AGENT_HISTORY: Final = RecordSign(
    "no object with 'history', a list of messages with 'message_type' or 'agent'",
    {"history": [({"role": ..., "message_type": ...}, {"role": ..., "agent": ...})]},
    is_one_value=True,
    otherwise=None,
)


def refuse_swe_agent_history(document: Document) -> str | None:
    """Returns why `document` is not of the format swe-agent-history; None if it is."""
    value = mapping(document.head[0]) if document.content is Content.JSON else {}
    has_steps = bool(items(value.get("trajectory")))
    return "has a 'trajectory'" if has_steps else _SWE_AGENT_HISTORY.refuse(document, ())


INSPECT_HEADER: Final = "header.json"
INSPECT_SAMPLE: Final = re.compile(r"samples/.+\.json")
INSPECT_SAMPLES: Final = "samples.item."  #: paths of what stands in a sample of a whole log
INSPECT_STATS: Final = "stats.model_usage"
_INSPECT_FIELDS: Final = (
    *("id", "epoch", "messages.item", "events.item", "attachments"),
    *("transcript.events.item", "transcript.content"),
)
INSPECT_PATHS: Final = (
    *(f"{INSPECT_SAMPLES}{name}" for name in _INSPECT_FIELDS),
    *_INSPECT_FIELDS,
    INSPECT_STATS,
    "item",
)
_INSPECT_SIGN: Final = RecordSign(
    "no object with 'eval' and 'samples', and no sample with 'id' and 'epoch'",
    (
        *({"eval": ..., name: ...} for name in ("samples", "status", "plan")),
        *({"id": ..., "epoch": ..., name: ...} for name in ("events", "messages")),
    ),
    is_one_value=True,
    otherwise=None,
)


def refuse_inspect(document: Document) -> str | None:
    """Returns why `document` is not of the format inspect; None if it is."""
    if document.content is Content.ARCHIVE:
        has_samples = any(INSPECT_SAMPLE.fullmatch(name) or name == INSPECT_HEADER for name in document.head)
        return None if has_samples else "an archive without samples"
    return _INSPECT_SIGN.refuse(document, ())


CLINE_WORDS: Final = re.compile(r"\A(?:\s*<(?:task|user_message)>|[\s\S]*<environment_details>)")

_PLAIN_KINDS: Final = ("tool", "llm", "user", "system")
#: An event in Ebbtide's own form. Its kind may be any other; without one, its arguments tell it from a test.
PLAIN_EVENT: Final = (
    {"repeat": ..., "events": list},
    *(
        {"repeat": ABSENT, "kind": _PLAIN_KINDS, name: ...}
        for name in ("name", "text", "model", "cost_usd", *CLASSES)
    ),
    *(
        {"repeat": ABSENT, "kind": re.compile("."), "name": str, name: ...}
        for name in ("args", "result", "error", "phase", "ts", "text")
    ),
    {"repeat": ABSENT, "kind": (ABSENT, None, ""), "name": str, "args": ...},
)
