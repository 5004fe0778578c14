"""LangSmith: runs as they are exported, one by one, in trees, or as the client posts and patches them.

Runs with ``run_type``: llm, tool, chain and so on.

What a chain reports of tokens and cost is a sum over its models, and counts only where none of them is
there. Source: the run format of the LangSmith client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.bounded import Bounded
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.events.usage import Usage
from ebbtide.traces.chats.message_parts import call_id
from ebbtide.traces.chats.message_shapes import messages_in
from ebbtide.traces.input.document import shape
from ebbtide.traces.records.fields import (
    arguments,
    count,
    dollars,
    from_json,
    identifier,
    mapping,
    seconds,
    text,
)
from ebbtide.traces.records.provider_usage import all_cache_writes, anthropic_usage, openai_usage
from ebbtide.traces.telemetry.sniffing import langsmith_runs
from ebbtide.traces.telemetry.span import LANGSMITH_KINDS, Span, SpanKind, failure, usage_of
from ebbtide.traces.telemetry.span_attributes import langchain_message, unwrapped_result
from ebbtide.traces.telemetry.span_messages import last_answer
from ebbtide.traces.telemetry.spans import SpanEvents

_ANTHROPIC = {"cache_read_input_tokens", "cache_creation_input_tokens"}
_CAMEL = {"promptTokens": "prompt_tokens", "completionTokens": "completion_tokens"}
_MOST_OPEN = 10_000  # runs whose end is still to come


class LangSmithReader:
    """Reads runs; of one that comes in pieces, the later piece counts."""

    def __init__(self) -> None:
        self._events = SpanEvents()
        self._open: Bounded[str, dict[str, Any]] = Bounded(_MOST_OPEN)

    @property
    def duplicates(self) -> int:
        """Runs that were there before."""
        return self._events.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that need not wait for runs to come.

        Raises:
            TranscriptError: It is no object.
        """
        if not isinstance(value, dict | list):
            raise TranscriptError(f"expected a run, found {shape(value)}")
        return [event for run in langsmith_runs(value) for event in self._take(run)]

    def finish(self) -> Sequence[Event]:
        """The events that still waited."""
        events: list[Event] = []
        for run in self._open.values():
            events += self._events.add(_span(run))
        self._open.clear()
        return events + self._events.finish()

    def _take(self, run: Mapping[str, Any]) -> list[Event]:
        number = _number(run)
        whole = {**run, "id": number}
        if number is not None and (before := self._open.pop(number, None)) is not None:
            whole = {**before, **{key: value for key, value in run.items() if value not in (None, {}, [])}}
        elif "run_type" not in run and number is None:
            return []
        if number is not None and whole.get("end_time") is None:
            waited_longest = self._open.put(number, whole)
            if waited_longest is None:
                return []
            whole = waited_longest[1]
        return [*self._events.add(_span(whole))]


def _span(run: Mapping[str, Any]) -> Span:
    kind = LANGSMITH_KINDS.get(str(run.get("run_type")).lower(), SpanKind.OTHER)
    metadata = mapping(mapping(from_json(run.get("extra"))).get("metadata"))
    input_value, output_value = from_json(run.get("inputs")), from_json(run.get("outputs"))
    failed = run.get("error") not in (None, "") or run.get("status") == "error"
    reason = failure(run.get("error"), None) if failed else None
    tool = kind is SpanKind.TOOL
    outputs = [] if tool else messages_in(output_value, "assistant")
    result = unwrapped_result(_result(output_value)) if tool else None
    number = identifier(run.get("id"))
    return Span(
        id=number,
        kind=kind,
        name=text(run.get("name")) or str(kind),
        trace=identifier(run.get("trace_id")) or _root(run) or number or "",
        parent=identifier(run.get("parent_run_id")),
        conversation=identifier(
            metadata.get("session_id") or metadata.get("thread_id") or metadata.get("conversation_id")
        ),
        start=seconds(run.get("start_time")),
        end=seconds(run.get("end_time")),
        model=_model(run, metadata, output_value),
        usage=_usage(run, metadata, output_value),
        cost_usd=_cost(run, output_value),
        inputs=[] if tool else messages_in(input_value, "user"),
        outputs=last_answer(outputs) if kind in (SpanKind.AGENT, SpanKind.OTHER) else outputs,
        args=_args(input_value) if tool or kind is SpanKind.OTHER else None,
        result=reason if result in (None, {}, "") and reason else result,
        call_id=_call_id(run, metadata, output_value),
        error=failed or (tool and langchain_message(mapping(_result(output_value))).get("status") == "error"),
        agent=text(metadata.get("lc_agent_name"))
        or (text(run.get("name")) if kind is SpanKind.AGENT else None),
    )


def _number(run: Mapping[str, Any]) -> str | None:
    """The id of a run; a patch may tell it in ``dotted_order`` only."""
    order = run.get("dotted_order")
    last = order.rpartition(".")[2].partition("Z")[2] if isinstance(order, str) else ""
    return identifier(run.get("id")) or last or None


def _root(run: Mapping[str, Any]) -> str | None:
    """The trace in ``dotted_order``: the times and ids of all runs around one."""
    order = run.get("dotted_order")
    return order.split(".")[0].partition("Z")[2] or None if isinstance(order, str) else None


def _args(input_value: Any) -> Any:
    inner = mapping(input_value)
    if set(inner) == {"input"}:
        return arguments(inner["input"])
    return input_value


def _result(output_value: Any) -> Any:
    inner = mapping(output_value)
    return inner["output"] if set(inner) == {"output"} else output_value


def _call_id(run: Mapping[str, Any], metadata: Mapping[str, Any], output_value: Any) -> str | None:
    name = langchain_message(mapping(_result(output_value))).get("tool_call_id")
    input_value = mapping(from_json(run.get("inputs")))
    return call_id(
        name or metadata.get("tool_call_id") or run.get("tool_call_id") or input_value.get("tool_call_id")
    )


def _first_message(output_value: Any) -> Mapping[str, Any]:
    """The message in LangChain's ``generations``, or in what wraps it."""
    inner = mapping(output_value)
    generation: Any = inner.get("generations")
    for _ in range(3):
        if isinstance(generation, list) and generation:
            generation = generation[0]
    message = mapping(mapping(generation).get("message")) or mapping(inner.get("message")) or inner
    return mapping(message.get("kwargs")) or message


def _usage(run: Mapping[str, Any], metadata: Mapping[str, Any], output_value: Any) -> Usage:
    inner, message = mapping(output_value), _first_message(output_value)
    report: Mapping[str, Any] = {}
    for candidate in (
        inner.get("usage_metadata"),
        metadata.get("usage_metadata"),
        message.get("usage_metadata"),
        run.get("usage_metadata"),
    ):
        report = report or mapping(candidate)
    details = mapping(report.get("input_token_details")) or mapping(run.get("prompt_token_details"))
    short, hour = details.get("ephemeral_5m_input_tokens"), details.get("ephemeral_1h_input_tokens")
    thoughts = mapping(report.get("output_token_details")) or mapping(run.get("completion_token_details"))
    input_count, output_count = run.get("prompt_tokens"), run.get("completion_tokens")
    if not count(input_count) and not count(output_count):
        input_count, output_count = report.get("input_tokens"), report.get("output_tokens")
    if count(input_count) is None and count(output_count) is None:
        for holder in (inner, mapping(inner.get("llm_output")), mapping(message.get("response_metadata"))):
            for key in ("usage", "token_usage", "tokenUsage"):
                if (usage := _provider_usage(mapping(holder.get(key)))).tokens:
                    return usage
    return usage_of(
        total_input=input_count,
        output=output_count,
        read=details.get("cache_read"),
        written=all_cache_writes(details.get("cache_creation"), short, hour),
        reasoning=thoughts.get("reasoning"),
        written_1h=hour,
        total=count(report.get("total_tokens")),
    )


def _provider_usage(usage: Mapping[str, Any]) -> Usage:
    """Usage as the provider answered it; of these only Anthropic's leaves cached tokens out of the input."""
    if "input_tokens" in usage and not _ANTHROPIC.isdisjoint(usage):
        return anthropic_usage(usage)
    renamed = {_CAMEL.get(key, key): value for key, value in usage.items()}
    return openai_usage(renamed)


def _cost(run: Mapping[str, Any], output_value: Any) -> float | None:
    for report, parts in (
        (run, ("prompt_cost", "completion_cost")),
        (mapping(mapping(output_value).get("usage_metadata")), ("input_cost", "output_cost")),
    ):
        total = dollars(report.get("total_cost"))
        if total is not None:
            return total
        costs = [dollars(report.get(part)) for part in parts]
        if any(cost is not None for cost in costs):
            return sum(cost or 0.0 for cost in costs)
    return None


def _model(run: Mapping[str, Any], metadata: Mapping[str, Any], output_value: Any) -> str | None:
    invocation = mapping(mapping(from_json(run.get("extra"))).get("invocation_params"))
    response = mapping(_first_message(output_value).get("response_metadata"))
    for model in (
        mapping(output_value).get("model"),
        response.get("model_name"),
        metadata.get("ls_model_name"),
        invocation.get("model"),
        invocation.get("model_name"),
        mapping(from_json(run.get("inputs"))).get("model"),
    ):
        if isinstance(model, str) and model:
            return model
    return None
