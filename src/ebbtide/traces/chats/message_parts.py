"""Parts of one message: its words, the calls of tools in it, and their results, in any notation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ebbtide.events.provider_answer import (
    CALL_HOLDERS,
    CALL_TYPES,
    SERVER_CALL_TYPES,
    ToolRequest,
    tool_request,
)
from ebbtide.traces.records.fields import arguments, compact, mapping, shown, text

_ASKING = CALL_TYPES | SERVER_CALL_TYPES
_ANSWERING = ("tool_result", "tool-result", "tool_call_response", "function_response")
# Without a type, the key tells what a part is.
_ANSWERED = ("functionResponse", "function_response", "toolResult")
_NUMBERS = ("tool_use_id", "toolUseId", "toolCallId", "id")
_RESULTS = ("response", "result", "content", "output")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """Answer of a tool."""

    id: str | None
    name: str | None = None
    result: object = None
    error: bool = False


def call_id(value: object) -> str | None:
    """The id of a call as a text; some frameworks write a list."""
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else compact(value)


def parts_in(content: object) -> tuple[list[str], list[ToolRequest], list[ToolAnswer]]:
    """Words, calls and results in the content of a message; thoughts and pictures are left out."""
    if isinstance(content, str):
        return ([content] if content else []), [], []
    words: list[str] = []
    requests: list[ToolRequest] = []
    answers: list[ToolAnswer] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            words.append(part)
            continue
        if not isinstance(part, dict):
            continue
        inner = part["message_content"] if isinstance(part.get("message_content"), dict) else part
        kind = inner.get("type")
        if kind == "text":
            if text_of_part := _part_text(inner):
                words.append(text_of_part)
        elif call := _part_request(inner, kind):
            requests.append(call)
        elif answer := _part_answer(inner, kind):
            answers.append(answer)
        elif isinstance(inner.get("parts"), list):
            more = parts_in(inner["parts"])
            words, requests, answers = words + more[0], requests + more[1], answers + more[2]
        elif text_of_part := _part_text(inner):
            words.append(text_of_part)
    return words, requests, answers


def _part_text(part: Mapping[str, Any]) -> str | None:
    kind = part.get("type", "text")
    if not isinstance(kind, str) or "text" not in kind or part.get("thought") is True:
        return None
    value = part.get("text")
    return text(value if isinstance(value, str) else part.get("content"))


def _part_request(part: Mapping[str, Any], kind: object) -> ToolRequest | None:
    if isinstance(kind, str):
        return request_in(part) if kind in _ASKING else None
    return next((request_in(part[key]) for key in CALL_HOLDERS if isinstance(part.get(key), dict)), None)


def _part_answer(part: Mapping[str, Any], kind: object) -> ToolAnswer | None:
    inner = part
    if not isinstance(kind, str):
        content = next((part[key] for key in _ANSWERED if isinstance(part.get(key), dict)), None)
        if content is None:
            return None
        inner = content
    elif not kind.endswith(_ANSWERING):
        return None
    number = next((inner[key] for key in _NUMBERS if inner.get(key)), None)
    result = next((inner[key] for key in _RESULTS if inner.get(key) is not None), None)
    if result is None and (kind == "tool_result" or any(key in inner for key in _RESULTS)):
        result = ""  # Anthropic's blocks leave out the content of an empty answer.
    error = bool(inner.get("is_error") or inner.get("isError")) or inner.get("status") == "error"
    return ToolAnswer(
        id=call_id(number),
        name=text(inner.get("name")) or text(inner.get("toolName")),
        result=shown(result),
        error=error,
    )


def request_in(value: object) -> ToolRequest | None:
    """The call of a tool that an object describes; None if it has no name."""
    request = tool_request(mapping(value), arguments)
    return None if request is None else replace(request, id=call_id(request.id))
