"""The spans and log records that an OTLP exporter has sent, and the number of those that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ebbtide.traces.telemetry.raw_spans import RawLog
from ebbtide.traces.telemetry.span_attributes import RawSpan


class SignalKind(StrEnum):
    """Kinds of data that are exported."""

    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """The spans and log records of one export.

    Args:
        spans: The spans that can be used.
        logs: The log records that are events of the GenAI conventions.
        rejected: Spans that cannot be used.
        reason: Why; empty where every one can.
    """

    spans: tuple[RawSpan, ...] = ()
    logs: tuple[RawLog, ...] = ()
    rejected: int = 0
    reason: str = ""

    @property
    def is_empty(self) -> bool:
        """True if nothing in it can be used."""
        return not (self.spans or self.logs)


def usable(spans: Sequence[RawSpan], count: int) -> Export:
    """The spans that have ids.

    Args:
        spans: Those that could be read.
        count: How many were sent.
    """
    with_ids = tuple(span for span in spans if span.trace and span.id)
    rejected = count - len(with_ids)
    reason = f"{rejected} of {count} spans have no traceId or spanId" if rejected else ""
    return Export(spans=with_ids, rejected=rejected, reason=reason)
