"""OpenTelemetry spans with the GenAI conventions: OTLP's JSON, JSON lines of it, or spans one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.traces.input.document import Content, Document, shape
from ebbtide.traces.records.fields import mapping
from ebbtide.traces.telemetry import genai_names as names
from ebbtide.traces.telemetry.message_memory import MessageMemory
from ebbtide.traces.telemetry.raw_spans import GROUPS, LOG_GROUPS, SCOPES, raw_logs, raw_spans
from ebbtide.traces.telemetry.span_attributes import RawSpan, span_of
from ebbtide.traces.telemetry.span_logs import SpanLogs
from ebbtide.traces.telemetry.spans import SpanEvents

_LOOKED_AT = 50  # spans, to tell the format
#: Of a single JSON value; a line may be any of these, or one span.
PATHS = (
    *(f"{group}.item" for group in (*GROUPS, *LOG_GROUPS)),
    "trace.resourceSpans.item",
    "data.item",
    "spans.item",
    "item",
    "",
)


class Otlp:
    """Spans as exporters write them: ``resourceSpans``, spans with ``attributes``, or attributes alone.

    Events of the conventions stand in their span, or in ``resourceLogs`` in the same file. Ids are compared
    as texts, so hexadecimal and base64 do equally. Source: OTLP 1.x, JSON encoding; GenAI semantic
    conventions, the names of 2024 to 2026.
    """

    name = "otlp"
    description = "OpenTelemetry spans: OTLP JSON ('resourceSpans'), or spans with GenAI attributes"
    paths = PATHS

    def refusal(self, document: Document) -> str | None:
        """Why `document` is not one; None if it is."""
        if document.content not in (Content.JSON, Content.JSON_LINES):
            return "not JSON"
        if any(
            _is_export(value)
            for head in document.head
            for value in (head[:5] if isinstance(head, list) else (head,))
        ):
            return None
        for raw in spans_in_head(document):
            if any(key.startswith(names.PREFIXES) for key in raw.attributes):
                return None
        if any(True for value in document.head for _ in raw_logs(value)):
            return None
        return "no 'resourceSpans', and no span with a 'gen_ai.' attribute"

    def event_reader(self) -> OtlpReader:
        """A reader before the first span."""
        return OtlpReader()


class OtlpReader:
    """Reads spans, in whatever they are wrapped."""

    def __init__(self) -> None:
        self._events = SpanEvents()
        self._logs = SpanLogs(self._events)
        self._memory = MessageMemory()

    @property
    def duplicates(self) -> int:
        """Spans that were there before, and were dropped."""
        return self._events.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that need not wait for spans to come.

        Raises:
            TranscriptError: It is nothing that spans stand in.
        """
        if not isinstance(value, dict | list):
            raise TranscriptError(f"expected spans, found {shape(value)}")
        given: list[Event] = []
        try:
            for raw in raw_spans(value):
                given += self._events.add(span_of(self._logs.joined(raw), self._memory))
            for log in raw_logs(value):
                self._logs.add(log)
        except RecursionError:
            raise TranscriptError("nested too deeply to be read") from None
        return given

    def finish(self) -> Sequence[Event]:
        """The events that still waited."""
        alone = [call for raw in self._logs.alone() for call in self._events.add(span_of(raw))]
        return [*alone, *self._events.finish()]


def spans_in_head(document: Document) -> Iterator[RawSpan]:
    """The first spans of a document."""
    left = _LOOKED_AT
    for value in document.head:
        for raw in raw_spans(value):
            yield raw
            left -= 1
            if not left:
                return


def _is_export(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    inner = value.get("trace") if isinstance(value.get("trace"), dict) else value
    for group in GROUPS:
        found = inner.get(group) if isinstance(inner, dict) else None
        if isinstance(found, list) and (
            not found or any(scope in mapping(found[0]) for scope in (*SCOPES, "resource"))
        ):
            return True
    return False
