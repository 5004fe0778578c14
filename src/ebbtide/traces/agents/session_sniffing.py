"""Telling the sessions of coding agents, and Ebbtide's own events, by the first records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ebbtide.events.usage import CLASSES
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.records.fields import identifier, items, mapping, text

CLAUDE_SPEAKERS = ("user", "assistant")


_CLAUDE_MARKS = ("parentUuid", "isSidechain", "leafUuid", "parent_tool_use_id")


_CLAUDE_OTHERS = ("file-history-snapshot", "queue-operation", "attachment", "cost-state", "ai-title")


def refuse_claude_code(document: Document) -> str | None:
    """Why `document` is not of the format claude-code; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    head = document.head
    if document.content is Content.JSON and isinstance(head[0], list):
        head = tuple(head[0][:10])
    if any(map(_is_claude_line, head)):
        return None
    return "no line of type 'user' or 'assistant' with a message, and no other line of a session"


def _is_claude_line(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    kind, message = value.get("type"), value.get("message")
    if kind in CLAUDE_SPEAKERS and isinstance(message, dict):
        return message.get("role") == kind or any(mark in value for mark in _CLAUDE_MARKS)
    if kind in _CLAUDE_OTHERS:
        return True
    if kind == "summary" or (isinstance(kind, str) and kind not in CLAUDE_SPEAKERS and "sessionId" in value):
        return "leafUuid" in value or "sessionId" in value
    return kind == "system" and "subtype" in value and ("session_id" in value or "uuid" in value)


def refuse_qwen_code(document: Document) -> str | None:
    """Returns why `document` is not of the format qwen-code; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    if any(map(_is_qwen_line, document.head)):
        return None
    return "no line whose message has 'parts'"


def _is_qwen_line(value: object) -> bool:
    line = mapping(value)
    return (
        "uuid" in line and "sessionId" in line and isinstance(mapping(line.get("message")).get("parts"), list)
    )


def refuse_kimi(document: Document) -> str | None:
    """Returns why `document` is not of the format kimi; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    head = mapping(document.head[0]) if document.head else {}
    if head.get("type") == "metadata" and "protocol_version" in head:
        return None
    return "no first line of type 'metadata' with a 'protocol_version'"


def refuse_antigravity(document: Document) -> str | None:
    """Returns why `document` is not of the format antigravity; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    if any({"step_index", "source", "type", "status"} <= mapping(value).keys() for value in document.head):
        return None
    return "no line with 'step_index', 'source', 'type' and 'status'"


def refuse_pi(document: Document) -> str | None:
    """Returns why `document` is not of the format pi; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    head = mapping(document.head[0]) if document.head else {}
    if head.get("type") == "session" and "cwd" in head and identifier(head.get("id")):
        return None
    return "no first line of type 'session' with a 'cwd'"


def refuse_copilot_cli(document: Document) -> str | None:
    """Returns why `document` is not of the format copilot-cli; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    if any(map(_is_copilot_line, document.head)):
        return None
    return "no line of a type such as 'session.start' or 'assistant.message' with 'data' and 'parentId'"


def _is_copilot_line(value: object) -> bool:
    line = mapping(value)
    kind = line.get("type")
    has_form = isinstance(line.get("data"), dict) and "parentId" in line
    return has_form and isinstance(kind, str) and kind.startswith(_COPILOT_KINDS)


_COPILOT_KINDS = ("session.", "assistant.", "user.message", "tool.execution_")
_OPENCODE_SPEAKERS = ("user", "assistant")


def refuse_opencode(document: Document) -> str | None:
    """Why `document` is not of the format opencode; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    values = document.head
    if document.content is Content.JSON:
        values = (*values, *items(mapping(values[0]).get("messages"))[:10], *items(values[0])[:10])
    if any(map(_is_opencode_record, values)):
        return None
    return "no message with 'info' and 'parts', and no printed line with 'sessionID' and its 'part'"


def _is_opencode_record(value: object) -> bool:
    record = mapping(value)
    if isinstance(record.get("sessionID"), str):
        return "messageID" in mapping(record.get("part")) or isinstance(record.get("error"), dict)
    info = mapping(record.get("info"))
    return info.get("role") in _OPENCODE_SPEAKERS and "sessionID" in info and "parts" in record


CODEX_PRINTED: Final = (
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.updated",
    "item.completed",
    "error",
)


_CODEX_PROTOCOL = frozenset(
    (
        "task_started",
        "session_configured",
        "agent_message",
        "agent_reasoning",
        "token_count",
        "exec_command_begin",
    )
)


def _is_codex_protocol(value: Mapping[str, Any]) -> bool:
    """True if a line is an event of Codex's early protocol."""
    return "id" in value and text(mapping(value.get("msg")).get("type")) in _CODEX_PROTOCOL


_CODEX_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")


_CODEX_BARE = ("message", "reasoning")


_CODEX_BARE_CALLS = ("_call", "_call_output")  # ends of types


def refuse_codex(document: Document) -> str | None:
    """Why `document` is not of the format codex; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    head = document.head
    if document.content is Content.JSON:
        head = tuple(items(head[0])[:10]) or head
    if any(map(_is_codex_line, head)) or _is_old_codex(head):
        return None
    return "no line of type 'session_meta', 'response_item' or 'event_msg' with a payload"


def _is_codex_line(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    return (
        (kind in _CODEX_ENVELOPES and isinstance(value.get("payload"), dict))
        or (kind in CODEX_PRINTED and kind != _ERROR)
        or _is_codex_protocol(value)
    )


_ERROR: Final = "error"  # a line of any log may be of this type


def _is_old_codex(head: Sequence[object]) -> bool:
    """True if this is of an early version: a head with id and time, then bare items, in lines or a list."""
    first = mapping(head[0])
    later: Sequence[object] = head[1:]
    if isinstance(first.get("session"), dict):
        first, later = first["session"], items(first.get("items"))
    if "type" in first or not {"id", "timestamp"} <= first.keys():
        return False
    return any(map(is_bare_codex_item, later))


def is_bare_codex_item(value: object) -> bool:
    """True if this is an item without an envelope."""
    kind = mapping(value).get("type")
    return (
        isinstance(kind, str)
        and "payload" not in mapping(value)
        and (kind in _CODEX_BARE or kind.endswith(_CODEX_BARE_CALLS))
    )


_GEMINI_FIELDS = {  # that tell a line of this form from one of a chat
    "init": ("session_id", "model"),
    "tool_use": ("tool_name", "tool_id"),
    "tool_result": ("tool_id", "status"),
    "result": ("status", "stats"),
    "message": ("role",),
    "error": ("severity",),
}


def is_gemini_printed(value: Mapping[str, Any]) -> bool:
    """True if a line is one that Gemini CLI prints."""
    kind = value.get("type")
    return (
        isinstance(kind, str)
        and kind in _GEMINI_FIELDS
        and all(name in value for name in _GEMINI_FIELDS[kind])
    )


def refuse_gemini_cli(document: Document) -> str | None:
    """Why `document` is not of the format gemini-cli; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    values = document.head
    if document.content is Content.JSON:
        first = mapping(values[0])
        if "sessionId" in first and "projectHash" in first:
            return None
        values = (first, *items(first.get("messages"))[:10], *items(values[0])[:10])
    if any(map(_is_gemini_message, values)):
        return None
    return "no message of type 'gemini', and no header with 'sessionId' and 'projectHash'"


def _is_gemini_message(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") in ("init", "tool_use", "tool_result"):
        return is_gemini_printed(value)
    if value.get("type") == "gemini" and ("content" in value or "toolCalls" in value):
        return True
    return isinstance(value.get("sessionId"), str) and "projectHash" in value and "type" not in value


_OPENHANDS_KINDS: Final = frozenset(
    (
        "ActionEvent",
        "ObservationEvent",
        "MessageEvent",
        "AgentErrorEvent",
        "SystemPromptEvent",
        "Condensation",
        "ConversationStateUpdateEvent",
        "ConversationErrorEvent",
        "UserRejectObservation",
        "CondensationSummaryEvent",
        "PauseEvent",
        "ACPToolCallEvent",
        "HookExecutionEvent",
        "LLMCompletionLogEvent",
        "StreamingDeltaEvent",
        "TokenEvent",
    )
)


OPENHANDS_LISTS = ("history", "events", "trajectory")


def refuse_openhands(document: Document) -> str | None:
    """Why `document` is not of the format openhands; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    values = document.head
    if document.content is Content.JSON and isinstance(values[0], list):
        values = tuple(values[0][:10])
    if any(
        is_openhands_event(event)
        for value in values
        for event in (value, *openhands_events(openhands_run(value)[:10]))
    ):
        return None
    return "no event with a 'kind' of V1, or with 'action' or 'observation' and 'source' of V0"


def openhands_run(value: object) -> list[Any]:
    """The events of a whole run."""
    if not isinstance(value, dict):
        return []
    return next((value[key] for key in OPENHANDS_LISTS if isinstance(value.get(key), list)), [])


def openhands_events(values: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """The events among values; an action and its observation may be a pair."""
    for value in values:
        if isinstance(value, dict):
            yield value
        elif isinstance(value, list):
            yield from (event for event in value if isinstance(event, dict))


def is_openhands_event(value: object) -> bool:
    """True if this is an event of OpenHands, V0 or V1."""
    if not isinstance(value, dict):
        return False
    kind = value.get("kind")
    if isinstance(kind, str) and (kind in _OPENHANDS_KINDS or kind.startswith("Condensation")):
        return True
    if isinstance(value.get("action"), str):
        return "source" in value and ("args" in value or "message" in value)
    return (
        isinstance(value.get("observation"), str)
        and "source" in value
        and ("content" in value or "extras" in value)
    )


_PLAIN_KINDS = ("tool", "llm", "user", "system")


_PLAIN_SIGNS = ("args", "result", "error", "phase", "ts", "text")


_PLAIN_MESSAGE_SIGNS = ("text", "model", "cost_usd", *CLASSES)  # which need no name


def refuse_ebbtide(document: Document) -> str | None:
    """Why `document` is not of the format ebbtide; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    values = document.head
    if document.content is Content.JSON:
        first = values[0]
        inner = first.get("events") if isinstance(first, Mapping) else first
        values = tuple(inner[:10]) if isinstance(inner, list) else values
    if any(map(_is_plain_event, values)):
        return None
    return "no object with 'name' and one of 'kind' and 'args', and no message with 'kind'"


def _is_plain_event(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    if "repeat" in value:
        return isinstance(value.get("events"), list)
    kind, name = value.get("kind"), value.get("name")
    if kind in _PLAIN_KINDS and ("name" in value or any(sign in value for sign in _PLAIN_MESSAGE_SIGNS)):
        return True
    if not isinstance(name, str) or not isinstance(kind, str | None):
        return False
    # A name and a result may be those of a test, or of a task in a benchmark.
    return any(sign in value for sign in _PLAIN_SIGNS) if kind else "args" in value
