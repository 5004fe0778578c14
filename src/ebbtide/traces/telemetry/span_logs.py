"""Events of spans that were logged beside them: joined by the ids, whichever comes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace

from ebbtide.traces.telemetry.raw_spans import RawLog
from ebbtide.traces.telemetry.span_attributes import RawSpan, span_of
from ebbtide.traces.telemetry.span_messages import ANSWERS, DETAILS
from ebbtide.traces.telemetry.spans import SpanEvents

_MOST = 5_000  # spans whose logs came first

_CHAT = {"gen_ai.operation.name": "chat"}


class SpanLogs:
    """Keeps logged events until their span comes; a span that waits to be told gets later ones.

    Args:
        events: Where spans wait.
    """

    def __init__(self, events: SpanEvents) -> None:
        self._events = events
        self._logs: OrderedDict[tuple[str, str], list[RawLog]] = OrderedDict()

    def add(self, log: RawLog) -> None:
        """An event was logged."""
        span = span_of(RawSpan(attributes=_CHAT, events=[(log.name, log.fields)]))
        if self._events.hears(log.trace, log.span, span.inputs, span.outputs):
            return
        self._logs.setdefault((log.trace, log.span), []).append(log)
        if len(self._logs) > _MOST:
            self._logs.popitem(last=False)

    def joined(self, raw: RawSpan) -> RawSpan:
        """A span with its events that were logged before."""
        logs = self._logs.pop((raw.trace, raw.id), None) if raw.id else None
        return replace(raw, events=[*raw.events, *((log.name, log.fields) for log in logs)]) if logs else raw

    def alone(self) -> Iterator[RawSpan]:
        """Spans that nobody told of, made of what was logged of a model's answers."""
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
