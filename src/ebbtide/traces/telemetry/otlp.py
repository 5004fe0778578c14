"""OpenTelemetry spans with the GenAI conventions: OTLP's JSON, JSON lines of it, or spans one by one.

Spans as exporters write them: ``resourceSpans``, spans with ``attributes``, or attributes alone.

Events of the conventions stand in their span, or in ``resourceLogs`` in the same file. Ids are compared
as texts, so hexadecimal and base64 do equally. Source: OTLP 1.x, JSON encoding; GenAI semantic
conventions, the names of 2024 to 2026.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.traces.input.document import shape
from ebbtide.traces.telemetry.message_memory import MessageMemory
from ebbtide.traces.telemetry.otlp_groups import scope_names
from ebbtide.traces.telemetry.raw_spans import raw_logs, raw_spans
from ebbtide.traces.telemetry.span_attributes import span_of
from ebbtide.traces.telemetry.span_logs import SpanLogs
from ebbtide.traces.telemetry.spans import SpanEvents

_SCOPES = 64  # that are remembered


class OtlpReader:
    """Reads spans, in whatever they are wrapped."""

    def __init__(self) -> None:
        self._events = SpanEvents()
        self._logs = SpanLogs(self._events)
        self._memory = MessageMemory()
        #: Names of the libraries that wrote the spans.
        self.scopes: set[str] = set()

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
        events: list[Event] = []
        if len(self.scopes) < _SCOPES:
            self.scopes.update(scope_names(value))
        try:
            for raw in raw_spans(value):
                events += self._events.add(span_of(self._logs.joined(raw), self._memory))
            for log in raw_logs(value):
                self._logs.add(log)
        except RecursionError:
            raise TranscriptError("nested too deeply to be read") from None
        return events

    def finish(self) -> Sequence[Event]:
        """The events that still waited."""
        alone = [call for raw in self._logs.alone() for call in self._events.add(span_of(raw))]
        return [*alone, *self._events.finish()]
