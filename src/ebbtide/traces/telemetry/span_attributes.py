"""Attributes of one span, read by GenAI conventions, OpenInference, or both at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ebbtide.events.usage import Usage
from ebbtide.traces.chats.message_parts import call_id
from ebbtide.traces.chats.message_shapes import messages_in
from ebbtide.traces.records.fields import (
    arguments,
    count,
    dollars,
    from_json,
    identifier,
    mapping,
    shown,
    text,
)
from ebbtide.traces.telemetry import genai_names as names
from ebbtide.traces.telemetry.message_memory import MessageMemory
from ebbtide.traces.telemetry.span import Span, SpanKind, failure, usage_of
from ebbtide.traces.telemetry.span_messages import ANSWERS, DETAILS, messages_of
from ebbtide.traces.telemetry.usage_details import cost_in, usage_in

_PREFIX = re.compile(
    r"(?:execute_tool|running tool:|run tool|tool call:?|tools/call|tool:|tool\.|ai\.toolCall|function:)"
    r"\s*(?=\S)",
    re.IGNORECASE,
)
_KINDS = {
    "LLM": SpanKind.LLM,
    "EMBEDDING": SpanKind.EMBEDDING,
    "RERANKER": SpanKind.OTHER,
    "TOOL": SpanKind.TOOL,
    "RETRIEVER": SpanKind.TOOL,
    "AGENT": SpanKind.AGENT,
}
_TREES = frozenset(
    ("llm", "gen_ai", "openinference", "input", "output", "tool", "session", "agent", "tool_call", "ai")
)
_DEEPEST = 8


class SpanWriter(NamedTuple):
    """Who wrote a span; None where that is not stated."""

    scope: str | None = None  # the library
    service: str | None = None  # the program


NOBODY = SpanWriter()  #: where it is not stated


@dataclass(frozen=True, slots=True, kw_only=True)
class RawSpan:
    """One span before anybody knows what it is.

    Args:
        name: Its name.
        attributes: Plain values by dotted name.
        events: Names of its events, with their attributes.
        id: Its id.
        trace: That of its trace.
        parent: That of the span around it.
        start: Seconds.
        end: Seconds.
        failed: Whether its status says so.
        message: What its status says.
        writer: Who wrote it.
    """

    name: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: Sequence[tuple[str, Mapping[str, Any]]] = ()
    id: str | None = None
    trace: str = ""
    parent: str | None = None
    start: float | None = None
    end: float | None = None
    failed: bool = False
    message: str | None = None
    writer: SpanWriter = NOBODY


def flattened(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes under their dotted names; some exports make a tree of them, or of lists among them."""
    flat: dict[str, Any] = {}
    for key, value in attributes.items():
        if key in _TREES and isinstance(value, dict):
            _flatten(f"{key}.", value, flat, _DEEPEST)
        elif isinstance(value, list) and value and key.startswith("llm.") and _has_dotted_names(value[0]):
            _flatten(f"{key}.", {str(at): item for at, item in enumerate(value)}, flat, _DEEPEST)
        else:
            flat[key] = value
    return flat


def plain_name(name: str) -> str:
    """The name of a tool in the name of its span."""
    return _PREFIX.sub("", name, count=1) if _PREFIX.match(name) else name


def usage_from(attributes: Mapping[str, Any]) -> Usage:
    """Tokens by class."""
    if any(key.startswith(names.AGGREGATED) for key in attributes):
        summed = {
            key.replace(names.AGGREGATED, "gen_ai.usage.", 1): value
            for key, value in attributes.items()
            if key.startswith(names.AGGREGATED)
        }
        attributes = {**summed, **attributes}
    if (details := from_json(attributes.get(names.USAGE_DETAILS))) and isinstance(details, dict):
        return usage_in(details)
    return usage_of(
        total_input=names.first(attributes, names.INPUT_TOKENS),
        output=names.first(attributes, names.OUTPUT_TOKENS),
        read=names.first(attributes, names.CACHE_READ_TOKENS),
        written=names.first(attributes, names.CACHE_WRITE_TOKENS),
        reasoning=names.first(attributes, names.REASONING_TOKENS),
        total=count(names.first(attributes, names.TOTAL_TOKENS)),
    )


def cost_from(attributes: Mapping[str, Any]) -> float | None:
    """Dollars; None where they are zero, which stands for not known."""
    total = dollars(names.first(attributes, names.COST))
    if total:
        return total
    parts = [dollars(names.first(attributes, part)) for part in names.COST_PARTS]
    if any(parts):
        return sum(part or 0.0 for part in parts)
    return cost_in(mapping(from_json(attributes.get(names.COST_DETAILS)))) or None


def kind_of(attributes: Mapping[str, Any]) -> SpanKind:
    """Returns the kind of a span, going by its attributes."""
    kind = attributes.get("openinference.span.kind")
    if isinstance(kind, str) and kind:
        return _KINDS.get(kind.upper(), SpanKind.OTHER)
    if attributes.get("gen_ai.tool.name") == names.MERGED_TOOLS:
        return SpanKind.OTHER
    for name in (*names.OPERATION, *names.OTHER_KINDS):
        value = attributes.get(name)
        if isinstance(value, str) and (kind := _operation(value.lower())):
            return kind
    if names.first(attributes, names.TOOL_NAME):
        return SpanKind.TOOL
    if any(attributes.get(name) for name in names.AGENT):
        return SpanKind.AGENT
    model = names.first(attributes, names.MODEL)
    tokens = names.first(attributes, (*names.INPUT_TOKENS, *names.OUTPUT_TOKENS))
    answer = names.first(attributes, names.OUTPUTS[:3]) or "gen_ai.completion.0.content" in attributes
    return SpanKind.LLM if model and (tokens is not None or answer) else SpanKind.OTHER


def span_of(raw: RawSpan, memory: MessageMemory | None = None) -> Span:
    """The span with all that its attributes and events tell.

    Args:
        raw: The span as it was written.
        memory: What reads its messages; one that read those of earlier spans is faster.
    """
    attributes = {name: value for name, value in raw.attributes.items() if value != names.HIDDEN}
    for name, fields in raw.events:
        if name in (DETAILS, "exception"):
            attributes = {**fields, **attributes}
    kind = kind_of(attributes)
    error = names.first(attributes, names.ERROR)
    output = langchain_message(mapping(from_json(attributes.get("output.value"))))
    failed = (
        raw.failed
        or "error.type" in attributes
        or (kind is SpanKind.TOOL and output.get("status") == "error")
    )
    reason = failure(raw.message or names.first(attributes, names.ERROR_MESSAGE), error) if failed else None
    tool = kind is SpanKind.TOOL
    # What makes an agent states its instructions, which its calls of a model state again.
    silent = tool or attributes.get("gen_ai.operation.name") == "create_agent"
    inputs, outputs = (
        ((), ()) if silent else messages_of(attributes, raw.events, kind, memory or MessageMemory())
    )
    args, result = _tool_values(attributes, raw.events) if tool else (None, reason)
    agent = identifier(names.first(attributes, names.AGENT))
    return Span(
        id=raw.id,
        kind=kind,
        name=_name(kind, raw.name, attributes),
        trace=raw.trace,
        parent=raw.parent,
        conversation=identifier(names.first(attributes, names.CONVERSATION)),
        start=raw.start,
        end=raw.end,
        model=text(names.first(attributes, names.MODEL)),
        usage=usage_from(attributes),
        cost_usd=cost_from(attributes),
        inputs=inputs,
        outputs=outputs,
        args=args,
        result=reason if result in (None, {}, "") and reason else result,
        call_id=_call_id(attributes, raw.events) if tool else None,
        error=failed,
        status=count(names.first(attributes, names.STATUS)),
        agent=agent or (raw.name or None if kind is SpanKind.AGENT else None),
        response=text(attributes.get("gen_ai.response.id")),
    )


def _has_dotted_names(value: object) -> bool:
    return isinstance(value, dict) and any("." in key for key in value)


def _flatten(prefix: str, tree: Mapping[str, Any], flat: dict[str, Any], deeper: int) -> None:
    for key, inner in tree.items():
        value = inner
        if isinstance(inner, list) and inner and _has_dotted_names(inner[0]):
            value = {str(at): item for at, item in enumerate(inner)}
        if isinstance(value, dict) and deeper and f"{prefix}{key}" not in ("input.value", "output.value"):
            _flatten(f"{prefix}{key}.", value, flat, deeper - 1)
        else:
            flat[f"{prefix}{key}"] = value


def _operation(value: str) -> SpanKind | None:
    for kind, operations in (
        (SpanKind.LLM, names.LLM_OPERATIONS),
        (SpanKind.TOOL, names.TOOL_OPERATIONS),
        (SpanKind.AGENT, names.AGENT_OPERATIONS),
        (SpanKind.EMBEDDING, names.EMBEDDING_OPERATIONS),
        (SpanKind.OTHER, names.OTHER_OPERATIONS),
    ):
        if value in operations:
            return kind
    return None


def _name(kind: SpanKind, name: str, attributes: Mapping[str, Any]) -> str:
    tool_or_agent = names.first(attributes, names.TOOL_NAME if kind is SpanKind.TOOL else names.AGENT)
    if kind in (SpanKind.TOOL, SpanKind.AGENT) and isinstance(tool_or_agent, str):
        return tool_or_agent
    return plain_name(name) or str(kind)


def _tool_values(
    attributes: Mapping[str, Any], events: Sequence[tuple[str, Mapping[str, Any]]]
) -> tuple[object, object]:
    args = names.first(attributes, names.TOOL_ARGUMENTS)
    if args is not None and args == attributes.get("tool.parameters") and _is_schema(args):
        args = attributes.get("input.value")
    result = names.first(attributes, names.TOOL_RESULT)
    for name, fields in events:
        if name == "gen_ai.tool.message" and args is None:
            args = fields.get("content")
        elif name in ANSWERS and result is None:
            result = fields.get("message", fields.get("content"))
        elif name == DETAILS:
            args, result = _parts_of(fields, args, result)
    if result is None and any(attributes.get(name) == "" for name in names.TOOL_RESULT):
        result = ""
    return unwrapped_args(arguments(args)), unwrapped_result(result)


def _parts_of(fields: Mapping[str, Any], args: object, result: object) -> tuple[object, object]:
    for message in messages_in(fields.get("gen_ai.input.messages"), "user"):
        args = args if args is not None or not message.requests else message.requests[0].args
    for message in messages_in(fields.get("gen_ai.output.messages"), "assistant"):
        result = result if result is not None or not message.answers else message.answers[0].result
    return args, result


def _is_schema(value: object) -> bool:
    """True if parameters are described, not given."""
    fields = mapping(from_json(value)).values()
    return bool(fields) and all("type" in mapping(field) for field in fields)


def unwrapped_args(value: object) -> object:
    """Arguments without the wrapping that a tracer of functions puts around them."""
    inner = mapping(value)
    if set(inner) - {"sanitize_inputs_outputs"} == {"args", "kwargs"}:  # smolagents has it, too
        return inner["kwargs"] if not inner["args"] else (inner["args"] if not inner["kwargs"] else value)
    if "input_str" in inner and "metadata" in inner:  # OpenLLMetry keeps all that a callback was given.
        return arguments(inner.get("inputs") or inner["input_str"])
    return value


def unwrapped_result(value: object) -> object:
    """A result without the message that LangChain puts around it."""
    content = from_json(value)
    inner = mapping(content)
    if set(inner) == {"output", "kwargs"}:
        content, inner = inner["output"], mapping(inner["output"])
        value = content
    message = langchain_message(inner)
    if message.get("type") == "tool" and "content" in message:
        return shown(message["content"])
    if (
        isinstance(content, list)
        and content
        and all(isinstance(mapping(part).get("text"), str) for part in content)
    ):
        return shown(content)
    return value


def langchain_message(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a message that LangChain wrote with its class around it, or as they are."""
    if isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list):
        return {"type": "tool" if value["id"][-1:] == ["ToolMessage"] else None, **value["kwargs"]}
    if isinstance(value.get("data"), dict) and isinstance(value.get("type"), str):
        return {**value["data"], "type": value["type"]}
    return value


def _call_id(attributes: Mapping[str, Any], events: Sequence[tuple[str, Mapping[str, Any]]]) -> str | None:
    name = call_id(names.first(attributes, names.TOOL_CALL_ID))
    if name is None:
        name = next(
            (
                call_id(fields.get("id"))
                for event_name, fields in events
                if event_name == "gen_ai.tool.message"
            ),
            None,
        )
    if name is None:
        output = langchain_message(mapping(from_json(attributes.get("output.value"))))
        name = call_id(output.get("tool_call_id"))
    return name
