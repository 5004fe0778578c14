"""OpenTelemetry spans with the GenAI conventions: OTLP's JSON, JSON lines of it, or spans one by one.

Spans as exporters write them: ``resourceSpans``, spans with ``attributes``, or attributes alone.

Events of the conventions stand in their span, or in ``resourceLogs`` in the same file. Ids are compared
as texts, so hexadecimal and base64 do equally. Source: OTLP 1.x, JSON encoding; GenAI semantic
conventions, the names of 2024 to 2026.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ebbtide.bounded import Bounded
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.traces.input.document import shape
from ebbtide.traces.telemetry.message_memory import MessageMemory
from ebbtide.traces.telemetry.raw_spans import RawLog, raw_logs, raw_spans
from ebbtide.traces.telemetry.span_attributes import RawSpan, span_of
from ebbtide.traces.telemetry.span_messages import ANSWERS, DETAILS
from ebbtide.traces.telemetry.spans import SpanEvents

_SCOPES = 64  # that are remembered


class OtlpReader:
    """Reads spans, in whatever they are wrapped.

    A file is read with `read` and `finish`. Of a run that is under way the spans come as they end: `settle`
    gives the events of those that have waited long enough.

    Args:
        resumes: Whether another reader has given events of a chain before; by default no one has.
    """

    def __init__(self, resumes: Callable[[str], bool] = lambda _: False) -> None:
        self._events = SpanEvents(resumes=resumes)
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
        return self.take(raw_spans(value), raw_logs(value))

    def take(self, spans: Iterable[RawSpan], logs: Iterable[RawLog]) -> Sequence[Event]:
        """As `read`, of spans and log records that are unwrapped already."""
        events: list[Event] = []
        for raw in spans:
            if raw.writer.scope is not None and len(self.scopes) < _SCOPES:
                self.scopes.add(raw.writer.scope)
            events += self._events.add(span_of(self._logs.joined(raw), self._memory))
        for log in logs:
            self._logs.add(log)
        return events

    @property
    def number(self) -> int:
        """Grows with each span."""
        return self._events.number

    def settle(self, number: int) -> Sequence[Event]:
        """The events of the spans up to a number; what comes later is counted, out of its order."""
        return self._events.settle(number)

    def conversation(self, trace: str) -> str | None:
        """The conversation that a trace is a part of; None while that is not known."""
        return self._events.conversation(trace)

    def base(self, chain_id: str) -> str:
        """The conversation, or the trace, that a chain is a part of."""
        return self._events.base(chain_id)

    def finish(self) -> Sequence[Event]:
        """The events that still waited."""
        alone = [call for raw in self._logs.alone() for call in self._events.add(span_of(raw))]
        return [*alone, *self._events.finish()]


_MOST = 5_000  # spans whose logs came first

_CHAT = {"gen_ai.operation.name": "chat"}


class SpanLogs:
    """Keeps logged events until their span comes; a span that waits gets later ones.

    Args:
        events: Where spans wait.
    """

    def __init__(self, events: SpanEvents) -> None:
        self._events = events
        self._logs: Bounded[tuple[str, str], list[RawLog]] = Bounded(_MOST)

    def add(self, log: RawLog) -> None:
        """An event was logged."""
        span = span_of(RawSpan(attributes=_CHAT, events=[(log.name, log.fields)]))
        if self._events.hears(log.trace, log.span, span.inputs, span.outputs):
            return
        self._logs.setdefault((log.trace, log.span), []).append(log)

    def joined(self, raw: RawSpan) -> RawSpan:
        """A span with its events that were logged before."""
        logs = self._logs.pop((raw.trace, raw.id), None) if raw.id else None
        return replace(raw, events=[*raw.events, *((log.name, log.fields) for log in logs)]) if logs else raw

    def alone(self) -> Iterator[RawSpan]:
        """Spans that nobody exported, made of what was logged of a model's answers."""
        for (trace, number), logs in self._logs.items():
            if any(log.name in (*ANSWERS, DETAILS) for log in logs):
                events = [(log.name, log.fields) for log in logs]
                times = [log.at for log in logs if log.at is not None]
                attributes = {**_CHAT, **next((log.fields for log in logs if log.name == DETAILS), {})}
                start, end = (min(times), max(times)) if times else (None, None)
                yield RawSpan(
                    name="chat",
                    attributes=attributes,
                    events=events,
                    id=number,
                    trace=trace,
                    start=start,
                    end=end,
                )
        self._logs.clear()
