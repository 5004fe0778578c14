"""The protobuf form of OTLP: the same spans and log records as in JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from ebbtide.errors import TranscriptError
from ebbtide.service.otlp.export import Export, SignalKind, usable
from ebbtide.traces.telemetry.raw_spans import RawLog, raw_log, service_name
from ebbtide.traces.telemetry.span_attributes import RawSpan, SpanWriter, flattened

_NANOSECONDS: Final = 1e9
_DEEPEST: Final = 32  # values in each other


def read_protobuf(body: bytes, signal: SignalKind) -> Export:
    """What is in a body.

    Raises:
        TranscriptError: It is no such message.
    """
    try:
        if signal is SignalKind.TRACES:
            return _spans(ExportTraceServiceRequest.FromString(body))
        if signal is SignalKind.LOGS:
            return _logs(ExportLogsServiceRequest.FromString(body))
    except DecodeError:
        raise TranscriptError(
            f"not an export of {signal} in protobuf",
            hint="See the headers Content-Type and Content-Encoding.",
        ) from None
    return Export()


def _spans(request: ExportTraceServiceRequest) -> Export:
    spans: list[RawSpan] = []
    for group in request.resource_spans:
        service = service_name(_attributes(group.resource.attributes))
        for scope in group.scope_spans:
            writer = SpanWriter(scope.scope.name or None, service)
            spans += (_span(span, writer) for span in scope.spans)
    return usable(spans, len(spans))


def _span(span: Span, writer: SpanWriter) -> RawSpan:
    return RawSpan(
        name=span.name,
        attributes=flattened(_attributes(span.attributes)),
        events=[(event.name, _attributes(event.attributes)) for event in span.events],
        id=_id(span.span_id),
        trace=_id(span.trace_id) or "",
        parent=_id(span.parent_span_id),
        start=_seconds(span.start_time_unix_nano),
        end=_seconds(span.end_time_unix_nano),
        failed=span.status.code == Status.STATUS_CODE_ERROR,
        message=span.status.message or None,
        writer=writer,
    )


def _logs(request: ExportLogsServiceRequest) -> Export:
    logs = [
        log
        for group in request.resource_logs
        for scope in group.scope_logs
        for record in scope.log_records
        if (log := _log(record)) is not None
    ]
    return Export(logs=tuple(logs))


def _log(record: LogRecord) -> RawLog | None:
    return raw_log(
        name=record.event_name,
        attributes=_attributes(record.attributes),
        body=_value(record.body),
        trace=_id(record.trace_id),
        span=_id(record.span_id),
        at=_seconds(record.time_unix_nano or record.observed_time_unix_nano),
    )


def _attributes(entries: Iterable[KeyValue], depth: int = 0) -> dict[str, Any]:
    return {entry.key: _value(entry.value, depth) for entry in entries}


def _value(value: AnyValue, depth: int = 0) -> Any:
    kind = value.WhichOneof("value")
    if kind is None or depth > _DEEPEST:
        return None
    if kind == "array_value":
        return [_value(item, depth + 1) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values, depth + 1)
    return getattr(value, kind)


def _id(value: bytes) -> str | None:
    """As in JSON, in hexadecimal; None for zeros, which stand for none."""
    return value.hex() if any(value) else None


def _seconds(nanoseconds: int) -> float | None:
    return nanoseconds / _NANOSECONDS if nanoseconds else None
