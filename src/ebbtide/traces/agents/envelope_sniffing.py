"""Telling sessions of agents that keep messages of a model's interface, by the first records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.records.fields import items, joined_text, mapping, text

_LOOKED_AT: Final = 10  # messages of one JSON value
_LISTS: Final = ("messages", "conversation", "history")


def _without(document: Document, is_one: Callable[[Mapping[str, Any]], bool], refusal: str) -> str | None:
    """Returns the refusal unless a first record of a document fits."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    values = document.head
    if document.content is Content.JSON:
        whole = mapping(values[0])
        inside = [items(values[0]), *(items(whole.get(name)) for name in _LISTS)]
        values = (whole, *(value for values in inside for value in values[:_LOOKED_AT]))
    return None if any(is_one(mapping(value)) for value in values) else refusal


def refuse_droid(document: Document) -> str | None:
    """Returns why `document` is not of the format droid; None if it is."""
    return _without(document, _is_droid, "no line of type 'session_start', and no printed one of a session")


def _is_droid(line: Mapping[str, Any]) -> bool:
    kind = line.get("type")
    if kind == "session_start":
        return "id" in line and "cwd" in line
    if "session_id" not in line:
        return False
    printed = {"tool_call": "toolName", "completion": "finalText", "message": "text"}
    return isinstance(kind, str) and kind in printed and printed[kind] in line


def refuse_cursor(document: Document) -> str | None:
    """Returns why `document` is not of the format cursor; None if it is."""
    return _without(document, _is_cursor, "no line with a role beside a message that has none")


def _is_cursor(line: Mapping[str, Any]) -> bool:
    message = mapping(line.get("message"))
    speaks = line.get("role") in ("user", "assistant") and "content" in message
    return speaks and not {"type", "uuid", "sessionId"} & line.keys() and "role" not in message


def refuse_goose(document: Document) -> str | None:
    """Returns why `document` is not of the format goose; None if it is."""
    return _without(document, _is_goose, "no 'working_dir' beside messages, and no part 'toolRequest'")


def _is_goose(record: Mapping[str, Any]) -> bool:
    if "working_dir" in record and ("message_count" in record or "conversation" in record):
        return True
    kinds = {text(mapping(part).get("type")) for part in items(record.get("content"))}
    return "created" in record and bool(kinds & {"toolRequest", "toolResponse"})


def refuse_grok(document: Document) -> str | None:
    """Returns why `document` is not of the format grok; None if it is."""
    return _without(document, _is_grok, "no answer with a 'model_id', and no request with a 'prompt_index'")


def _is_grok(line: Mapping[str, Any]) -> bool:
    kind = line.get("type")
    if kind == "backend_tool_call":
        return isinstance(line.get("kind"), dict)
    marks = {"assistant": ("model_id",), "user": ("synthetic_reason", "prompt_index")}
    return isinstance(kind, str) and "content" in line and any(mark in line for mark in marks.get(kind, ()))


def refuse_hermes(document: Document) -> str | None:
    """Returns why `document` is not of the format hermes; None if it is."""
    return _without(document, _is_hermes, "no 'session_start' beside messages, and no role 'session_meta'")


def _is_hermes(record: Mapping[str, Any]) -> bool:
    return record.get("role") == "session_meta" or {"session_start", "platform", "messages"} <= record.keys()


def refuse_kiro(document: Document) -> str | None:
    """Returns why `document` is not of the format kiro; None if it is."""
    return _without(document, _is_kiro, "no line of kind 'AssistantMessage' with data, and no such history")


def _is_kiro(record: Mapping[str, Any]) -> bool:
    if record.get("kind") in ("Prompt", "AssistantMessage", "ToolResults"):
        return isinstance(record.get("data"), dict)
    return isinstance(record.get("assistant"), dict) and "content" in mapping(record.get("user"))


def refuse_cline(document: Document) -> str | None:
    """Returns why `document` is not of the format cline; None if it is."""
    return _without(
        document, _is_cline, "no version and session beside messages, and no message with '<task>'"
    )


def _is_cline(record: Mapping[str, Any]) -> bool:
    if {"version", "sessionId", "messages"} <= record.keys():
        return True
    words = joined_text(record.get("content")) or ""
    marks = words.lstrip().startswith(("<task>", "<user_message>")) or "<environment_details>" in words
    return record.get("role") == "user" and marks and "type" not in record


def refuse_gptme(document: Document) -> str | None:
    """Returns why `document` is not of the format gptme; None if it is."""
    return _without(document, _is_gptme, "no message that is 'pinned', or has its model in its metadata")


def _is_gptme(message: Mapping[str, Any]) -> bool:
    if not isinstance(message.get("role"), str) or "timestamp" not in message:
        return False
    notes = mapping(message.get("metadata"))
    counted = "model" in notes and bool({"usage", "input_tokens", "output_tokens"} & notes.keys())
    return counted or bool({"pinned", "hide"} & message.keys())


def refuse_iflow(document: Document) -> str | None:
    """Returns why `document` is not of the format iflow; None if it is."""
    return _without(document, _is_iflow, "no line of a session whose name begins with 'session-'")


def _is_iflow(line: Mapping[str, Any]) -> bool:
    session = text(line.get("sessionId")) or ""
    return session.startswith("session-") and "userType" in line and isinstance(line.get("message"), dict)
