"""Telling the exports of tracing tools by their first spans, runs or observations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ebbtide.traces.input.document import Document
from ebbtide.traces.records.fields import items, mapping
from ebbtide.traces.telemetry.genai_names import (
    GROUPS,
    LOG_GROUPS,
    LOG_RECORDS,
    LOG_SCOPES,
    PREFIXES,
    SCOPES,
)
from ebbtide.traces.telemetry.raw_spans import raw_logs, raw_spans
from ebbtide.traces.telemetry.span import LANGFUSE_KINDS, LANGSMITH_KINDS

_OPEN_TYPES = frozenset(("SPAN", "EVENT", "CHAIN", "EVALUATOR", "GUARDRAIL", "UNKNOWN"))

_LANGFUSE_SIGNS = frozenset(
    ("parentObservationId", "parent_observation_id", "traceId", "trace_id", "usageDetails", "costDetails")
)


def refuse_langfuse(document: Document) -> str | None:
    """Why `document` is not of the format langfuse; None if it is."""
    has_ids_only = False
    for value in document.head:
        for item in _first_records(value):
            if is_observation(item):
                return None
            has_ids_only = has_ids_only or _has_ids_only(item)
    if has_ids_only:
        return "traces with the ids of their observations only: export the observations themselves"
    return "no observation with 'type' (GENERATION, SPAN, TOOL ...) and 'traceId'"


def is_observation(value: Any) -> bool:
    """True if this is an observation of Langfuse: it has a type, and a field that only observations have."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    return (
        value["type"] in LANGFUSE_KINDS or value["type"] in _OPEN_TYPES
    ) and not _LANGFUSE_SIGNS.isdisjoint(value)


def _has_ids_only(trace: Mapping[str, Any]) -> bool:
    inner = trace.get("observations")
    return isinstance(inner, list) and bool(inner) and all(isinstance(item, str) for item in inner)


def _first_records(value: Any) -> Iterator[Mapping[str, Any]]:
    for number, item in enumerate(langfuse_records(value)):
        yield item
        if number > 50:
            return


def langfuse_records(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Traces and observations, a trace before its observations."""
    if isinstance(value, list) and depth < 4:
        for item in value:
            yield from langfuse_records(item, depth + 1)
    elif isinstance(value, dict):
        inner = [
            value[key]
            for key in ("trace", "traces", "data", "observations")
            if isinstance(value.get(key), dict | list)
        ]
        yield value
        if is_observation(value):
            return
        for item in inner if depth < 4 else ():
            yield from langfuse_records(item, depth + 1)


_LANGSMITH_LISTS = ("post", "patch", "runs", "child_runs")

_LANGSMITH_PATCHED = {"outputs", "end_time", "error"}

_LANGSMITH_PLACES = ("inputs", "outputs", "dotted_order", "trace_id", "parent_run_id")


def refuse_langsmith(document: Document) -> str | None:
    """Why `document` is not of the format langsmith; None if it is."""
    if any(_is_run(run) for value in document.head for run in langsmith_runs(value)):
        return None
    return "no run with 'run_type'"


def _is_run(value: Mapping[str, Any]) -> bool:
    kind = value.get("run_type")
    return (
        isinstance(kind, str)
        and kind.lower() in LANGSMITH_KINDS
        and any(key in value for key in _LANGSMITH_PLACES)
    )


def langsmith_runs(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The runs in a record, outer ones first; inner ones learn their parents."""
    if depth > 50:
        return
    if isinstance(value, list):
        for item in value:
            yield from langsmith_runs(item, depth + 1)
        return
    if not isinstance(value, dict):
        return
    if "run_type" in value or (
        ("id" in value or "dotted_order" in value) and _LANGSMITH_PATCHED & value.keys()
    ):
        yield value
        for child in items(value.get("child_runs")):
            inner = mapping(child)
            if inner:
                around = {
                    "parent_run_id": value.get("id"),
                    "trace_id": value.get("trace_id") or value.get("id"),
                }
                yield from langsmith_runs(
                    {**around, **{k: v for k, v in inner.items() if v is not None}}, depth + 1
                )
        return
    for key in _LANGSMITH_LISTS:
        yield from langsmith_runs(value.get(key), depth + 1)


_AROUND_SPANS = frozenset(
    (
        *(*GROUPS, *SCOPES, *LOG_GROUPS, *LOG_SCOPES, *LOG_RECORDS),
        *("spans", "data", "trace", "attributes", "tags", "SpanContext", "context.span_id"),
    )
)
_WRAPPINGS = 12  # lists around a span
#: The name of an attribute that only such spans have, among the keys of an object, one a line.
_ATTRIBUTE = re.compile(rf"^(?:attributes\.)?(?:{'|'.join(map(re.escape, PREFIXES))})", re.MULTILINE)

_OPENINFERENCE_SIGNS = ("openinference.", "llm.token_count.", "llm.input_messages", "llm.output_messages")


def refuse_openinference(document: Document) -> str | None:
    """Why `document` is not of the format openinference; None if it is."""
    if any(name.startswith(_OPENINFERENCE_SIGNS) for name in _attributes_in_head(document)):
        return None
    return "no span with 'openinference.span.kind'"


_SPANS_LOOKED_AT = 50  # spans, to tell the format


def refuse_otlp(document: Document) -> str | None:
    """Why `document` is not of the format otlp; None if it is."""
    heads = [value for head in document.head for value in (head[:5] if isinstance(head, list) else (head,))]
    if any(map(_is_otlp_export, heads)):
        return None
    if any(name.startswith(PREFIXES) for name in _attributes_in_head(document)):
        return None
    may_hold_logs = any(map(_may_hold_spans, document.head))
    if may_hold_logs and any(True for value in document.head for _ in raw_logs(value)):
        return None
    return "no 'resourceSpans', and no span with a 'gen_ai.' attribute"


def _attributes_in_head(document: Document) -> Iterator[str]:
    """Names of the attributes of the first spans, where there may be some."""
    if not any(map(_may_hold_spans, document.head)):
        return
    remaining = _SPANS_LOOKED_AT
    for value in document.head:
        for raw in raw_spans(value):
            yield from raw.attributes
            remaining -= 1
            if not remaining:
                return


def _may_hold_spans(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list):
        return depth < _WRAPPINGS and any(_may_hold_spans(item, depth + 1) for item in value)
    if not isinstance(value, dict):
        return False
    return not _AROUND_SPANS.isdisjoint(value) or _ATTRIBUTE.search("\n".join(value)) is not None


def _is_otlp_export(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    trace = value.get("trace")
    inner = trace if isinstance(trace, dict) else value
    for group in GROUPS:
        groups = inner.get(group)
        if isinstance(groups, list) and (
            not groups or any(scope in mapping(groups[0]) for scope in (*SCOPES, "resource"))
        ):
            return True
    return False
