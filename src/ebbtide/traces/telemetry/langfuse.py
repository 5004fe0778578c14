"""Langfuse: exports of traces with their observations, and observations one by one.

Objects with ``trace`` and ``observations``, lists of observations, or one observation a line.

What a trace says of itself is a sum over its observations and is left aside. Source: the export and the
public interface of Langfuse 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.events.usage import Usage
from ebbtide.traces.chats.message_parts import call_id
from ebbtide.traces.chats.message_shapes import messages_in
from ebbtide.traces.input.document import shape
from ebbtide.traces.records.fields import arguments, dollars, from_json, identifier, mapping, seconds, text
from ebbtide.traces.records.provider_usage import has_tokens
from ebbtide.traces.telemetry import genai_names as names
from ebbtide.traces.telemetry.sniffing import is_observation, langfuse_records
from ebbtide.traces.telemetry.span import LANGFUSE_KINDS, Span, SpanKind, failure
from ebbtide.traces.telemetry.span_attributes import (
    flattened,
    kind_of,
    langchain_message,
    plain_name,
    unwrapped_args,
    unwrapped_result,
    usage_from,
)
from ebbtide.traces.telemetry.span_messages import last_answer
from ebbtide.traces.telemetry.spans import SpanEvents
from ebbtide.traces.telemetry.usage_details import cost_in, either, usage_in


class LangfuseReader:
    """Reads traces and observations."""

    def __init__(self) -> None:
        self._events = SpanEvents()
        self._sessions: dict[str, str] = {}

    @property
    def duplicates(self) -> int:
        """Observations that were there before."""
        return self._events.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that need not wait for observations to come.

        Raises:
            TranscriptError: It is no object.
        """
        if not isinstance(value, dict | list):
            raise TranscriptError(f"expected an observation or a trace, found {shape(value)}")
        events: list[Event] = []
        for item in langfuse_records(value):
            if is_observation(item):
                events += self._events.add(self._span(item))
            else:
                self._trace(item)
        return events

    def finish(self) -> Sequence[Event]:
        """The events that still waited."""
        return self._events.finish()

    def _trace(self, value: Mapping[str, Any]) -> None:
        number = identifier(value.get("id"))
        session = identifier(value.get("sessionId") or value.get("session_id"))
        if number and session and len(self._sessions) < 100_000:
            self._sessions[number] = session

    def _span(self, value: Mapping[str, Any]) -> Span:
        metadata = mapping(from_json(value.get("metadata")))
        attributes = flattened(mapping(metadata.get("attributes")))
        kind = _kind(value, attributes)
        trace = identifier(value.get("traceId") or value.get("trace_id")) or ""
        failed = value.get("level") == "ERROR"
        reason = failure(value.get("statusMessage", value.get("status_message")), None) if failed else None
        name = text(value.get("name")) or ""
        tool = kind is SpanKind.TOOL
        tool_name = names.first(attributes, names.TOOL_NAME) if tool else None
        input_value = value.get("input")
        output_value = value.get("output")
        if kind is SpanKind.LLM and output_value is None:
            output_value = names.first(attributes, names.OUTPUTS)
        outputs = [] if tool else messages_in(output_value, "assistant")
        result = unwrapped_result(output_value) if tool or kind is SpanKind.OTHER else None
        return Span(
            id=identifier(value.get("id")),
            kind=kind,
            name=tool_name if isinstance(tool_name, str) else plain_name(name) or str(kind),
            trace=trace,
            parent=identifier(value.get("parentObservationId") or value.get("parent_observation_id")),
            conversation=_conversation(value, attributes) or self._sessions.get(trace),
            start=seconds(value.get("startTime") or value.get("start_time")),
            end=seconds(value.get("endTime") or value.get("end_time")),
            model=text(either(value, "model", "providedModelName", "provided_model_name", "internalModel")),
            usage=_usage(value, kind, attributes),
            cost_usd=_cost(value),
            inputs=[] if tool else messages_in(input_value, "user"),
            outputs=last_answer(outputs) if kind in (SpanKind.AGENT, SpanKind.OTHER) else outputs,
            args=unwrapped_args(arguments(_args(input_value, metadata)))
            if tool or kind is SpanKind.OTHER
            else None,
            result=reason if output_value in (None, {}, "") and reason else result,
            call_id=_call_id(output_value, attributes),
            error=failed
            or (tool and langchain_message(mapping(from_json(output_value))).get("status") == "error"),
            agent=_agent(kind, name, attributes, metadata),
        )


def _kind(value: Mapping[str, Any], attributes: Mapping[str, Any]) -> SpanKind:
    kind = LANGFUSE_KINDS.get(value["type"])
    if kind is not None:
        return kind
    by_attributes = kind_of(attributes)
    if by_attributes in (SpanKind.TOOL, SpanKind.AGENT):
        return by_attributes
    inner = langchain_message(mapping(from_json(value.get("output"))))
    if inner.get("type") == "tool" and inner.get("tool_call_id"):
        return SpanKind.TOOL
    name = text(value.get("name")) or ""
    return SpanKind.TOOL if plain_name(name) != name else SpanKind.OTHER


def _usage(value: Mapping[str, Any], kind: SpanKind, attributes: Mapping[str, Any]) -> Usage:
    for report in (either(value, "usageDetails", "usage_details"), value.get("usage")):
        if has_tokens(usage := usage_in(mapping(from_json(report)))):
            return usage
    columns = {
        "input": either(value, "inputUsage", "input_usage", "inputTokens", "promptTokens", "prompt_tokens"),
        "output": either(
            value, "outputUsage", "output_usage", "outputTokens", "completionTokens", "completion_tokens"
        ),
        "total": either(value, "totalUsage", "total_usage", "totalTokens", "total_tokens"),
    }
    usage = usage_in(columns)
    return usage_from(attributes) if kind is SpanKind.LLM and not has_tokens(usage) else usage


def _cost(value: Mapping[str, Any]) -> float | None:
    cost = cost_in(mapping(from_json(either(value, "costDetails", "cost_details"))))
    if cost is not None:
        return cost
    names_of_total = ("totalCost", "total_cost", "calculatedTotalCost", "calculated_total_cost")
    totals = [dollars(value.get(name)) for name in names_of_total]
    usage = mapping(value.get("usage"))
    # Zero is written where no price was known.
    return next((total for total in totals if total), None) or dollars(
        either(usage, "totalCost", "total_cost")
    )


def _args(input_value: Any, metadata: Mapping[str, Any]) -> Any:
    """A tool's arguments; LangChain's tracing writes them as Python's notation, and keeps them beside it."""
    inputs = metadata.get("inputs")
    if isinstance(inputs, dict) and isinstance(input_value, str) and input_value.startswith("{'"):
        return inputs
    return input_value


def _call_id(output_value: Any, attributes: Mapping[str, Any]) -> str | None:
    name = call_id(names.first(attributes, names.TOOL_CALL_ID))
    if name is None:
        name = call_id(langchain_message(mapping(from_json(output_value))).get("tool_call_id"))
    return name


def _conversation(value: Mapping[str, Any], attributes: Mapping[str, Any]) -> str | None:
    name = identifier(names.first(attributes, names.CONVERSATION))
    return name or identifier(value.get("sessionId") or value.get("session_id"))


def _agent(
    kind: SpanKind, name: str, attributes: Mapping[str, Any], metadata: Mapping[str, Any]
) -> str | None:
    agent = identifier(names.first(attributes, names.AGENT))
    if agent is None and kind is SpanKind.AGENT:
        return name or None
    return agent or text(metadata.get("lc_agent_name"))
