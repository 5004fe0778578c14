"""Content of a provider's answer: the words of the model, and the calls of tools that it asks for.

Chat completions, responses, Anthropic's blocks, Gemini's parts, Bedrock's, LangChain's and pydantic-ai's
messages differ in where things are and in what they are called, not in what there is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ebbtide.events.object_fields import fields_of

#: Types of parts that ask the caller for a call of a tool.
CALL_TYPES = frozenset(
    ("tool_call", "tool_use", "tool-call", "function", "function_call", "custom_tool_call")
)
#: Types of parts that report a call that the provider makes by itself.
SERVER_CALL_TYPES = frozenset(("server_tool_use", "mcp_tool_use"))
#: A part without a type holds a call under one of these.
CALL_HOLDERS = ("functionCall", "function_call", "toolUse", "tool_call")

_REQUESTS = (*CALL_HOLDERS, "params")  # `params` of MCP's request
_FUNCTIONS = ("function", "custom")
_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_IDS = ("call_id", "id", "toolUseId", "toolCallId", "tool_call_id")
# From the outside in; the first that is there holds the rest.
_INSIDE = ("choices", "candidates", "output", "message", "response", "raw", "parts", "content")
_THOUGHTS = ("reasoning", "thinking", "redacted")
_DEEPEST = 10
_MOST_PARTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """A call of a tool that a model asked for; `id` is None where it has none."""

    id: str | None
    name: str
    args: object = None


@dataclass(slots=True)
class AnswerParts:
    """The words and the calls in an answer.

    Args:
        words: The words, part by part.
        is_answer: True if it was an answer at all.
        visits: Parts that were looked at: a huge answer is not read to its end.
    """

    words: list[str] = field(default_factory=list)
    requests: list[ToolRequest] = field(default_factory=list)
    is_answer: bool = False
    visits: int = 0

    @property
    def text(self) -> str | None:
        """Words with a blank line between parts: ``""`` for an answer without any, None for no answer."""
        return "\n\n".join(self.words) if self.words or self.is_answer else None


def answer_parts(answer: object) -> AnswerParts:
    """Returns the words and the calls in an answer: as much as can be read of it."""
    parts = AnswerParts()
    with suppress(Exception):  # whatever code the object runs, the rest of it is not known
        _walk(answer, parts, 0)
    return parts


def asked_call(value: object) -> ToolRequest | None:
    """Returns the call that a part of an answer asks for, or that a request of MCP makes; None for others."""
    try:
        fields = fields_of(value)
        for holder in _REQUESTS:
            inner = fields_of(fields.get(holder))
            if inner and (request := tool_request(inner, parsed)) is not None:
                return request
        return tool_request(fields, parsed)
    except Exception:  # noqa: BLE001 - whatever code the object runs, it is no call
        return None


def tool_request(value: object, parse: Callable[[object], object]) -> ToolRequest | None:
    """Returns the call of a tool that an object describes; None if it has no name.

    Args:
        value: A dict or an object.
        parse: Returns the arguments that a text stands for.
    """
    record = fields_of(value)
    record = fields_of(record.get("tool_call")) or record
    function = next((inner for key in _FUNCTIONS if (inner := fields_of(record.get(key)))), record)
    name = next(
        (text for holder in (function, record) for key in _NAMES if _is_text(text := holder.get(key))), None
    )
    if name is None:
        return None
    args = next(
        (holder[key] for holder in (function, record) for key in _ARGUMENTS if holder.get(key) is not None),
        None,
    )
    number = next((record[key] for key in _IDS if record.get(key)), None)
    return ToolRequest(id=number, name=name, args=parse(args))


def parsed(args: object) -> object:
    """Returns arguments that a model wrote: JSON parsed, no text as none, a broken text as it is."""
    if args == "":
        return {}
    if isinstance(args, str) and args.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(args)
        except (ValueError, RecursionError):
            return args
    return args


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _walk(thing: object, parts: AnswerParts, depth: int) -> None:
    parts.visits += 1
    if depth > _DEEPEST or parts.visits > _MOST_PARTS:
        return
    if isinstance(thing, str):
        parts.is_answer = True
        if thing:
            parts.words.append(thing)
    elif isinstance(thing, list | tuple) and not hasattr(thing, "_fields"):
        for item in thing[: _MOST_PARTS - parts.visits]:
            _walk(item, parts, depth + 1)
    else:
        _walk_fields(fields_of(thing), parts, depth)


def _walk_fields(fields: Mapping[str, Any], parts: AnswerParts, depth: int) -> None:
    kind = fields.get("type") or fields.get("part_kind")
    kind = kind if isinstance(kind, str) else None
    if kind in SERVER_CALL_TYPES or fields.get("thought") is True or (kind or "").startswith(_THOUGHTS):
        return
    if kind in CALL_TYPES or any(fields.get(holder) for holder in CALL_HOLDERS):
        request = asked_call(fields)
        if request is not None:
            parts.is_answer = True
            parts.requests.append(request)
            return
    if isinstance(text := fields.get("text"), str):
        parts.is_answer = True
        if text:
            parts.words.append(text)
        return
    listed = fields.get("tool_calls")
    calls = listed[:_MOST_PARTS] if isinstance(listed, list | tuple) else ()
    requests = [request for call in calls if (request := asked_call(call))]
    before = len(parts.requests), len(parts.words)
    for name in _INSIDE:
        inner = fields.get(name)
        if inner is not None:
            _walk(inner, parts, depth + 1)
            parts.is_answer = True
            break
    if requests:
        # LangChain has the calls among the content too.
        parts.requests[before[0] :] = requests
        parts.is_answer = True
    elif before == (len(parts.requests), len(parts.words)) and _is_text(refusal := fields.get("refusal")):
        parts.words.append(str(refusal))
