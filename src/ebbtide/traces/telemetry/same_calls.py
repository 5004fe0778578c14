"""One call of a model that two libraries record, each in a span of its own."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import replace

from ebbtide.traces.telemetry.span import Span
from ebbtide.traces.telemetry.span_kind import SpanKind
from ebbtide.traces.telemetry.span_tree import Key

_MOST = 10_000  # calls that are remembered


class SameCalls:
    """Tells spans of one call by the id of its response, and by their times, which overlap.

    A provider gives every response an id of its own; a scripted model may give the same one again.
    """

    def __init__(self) -> None:
        self._calls: OrderedDict[str, tuple[Key, float, float]] = OrderedDict()

    def first(self, key: Key, span: Span) -> Key | None:
        """The span that recorded the call before this one; None where none did."""
        if span.response is None or span.kind is not SpanKind.LLM:
            return None
        start = -math.inf if span.start is None else span.start
        end = math.inf if span.end is None else span.end
        place, other_start, other_end = self._calls.get(span.response, (None, 0.0, 0.0))
        if place is not None and place != key and start <= other_end and other_start <= end:
            return place
        self._calls[span.response] = key, start, end
        if len(self._calls) > _MOST:
            self._calls.popitem(last=False)
        return None


def joined(span: Span, other: Span) -> Span:
    """A span of a call, with what only the other one of the same call tells."""
    return replace(
        span,
        inputs=span.inputs or other.inputs,
        outputs=span.outputs or other.outputs,
        usage=span.usage if span.has_tokens else other.usage,
        cost_usd=span.cost_usd or other.cost_usd,
        conversation=span.conversation or other.conversation,
    )
