"""Export requests of OTLP: how a body is packed and in which form, what is in it, and the answer to it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from ebbtide.errors import EbbtideError, TranscriptError
from ebbtide.traces.input.document import shape
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.records.fields import items, mapping
from ebbtide.traces.telemetry.genai_names import GROUPS, SCOPES
from ebbtide.traces.telemetry.raw_spans import (
    RawLog,
    raw_log,
    raw_logs,
    raw_spans,
    service_name,
)
from ebbtide.traces.telemetry.span_attributes import RawSpan, SpanWriter, flattened

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
_GRPC: Final = "application/grpc"
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_WINDOWS: Final = {"gzip": _GZIP_WINDOW, "x-gzip": _GZIP_WINDOW, "deflate": zlib.MAX_WBITS}
_LARGEST: Final = 64 << 20  # bytes of a body when it is unpacked
_NANOSECONDS: Final = 1e9
_DEEPEST: Final = 32  # values in each other
#: Why nothing is done with metrics.
NO_METRICS: Final = "Metrics are not used. Set OTEL_METRICS_EXPORTER=none to save sending them."


class MediaError(EbbtideError):
    """A body is in a form that is not read: HTTP 415."""


class SizeError(EbbtideError):
    """A body is too large when it is unpacked: HTTP 413."""


class SignalKind(StrEnum):
    """Kinds of data that are exported."""

    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """The spans and log records of one export.

    Args:
        logs: The log records that are events of the GenAI conventions.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedExport:
    """One export, as it came.

    Args:
        encoding: The packing of the body, as the header ``Content-Encoding`` says.
    """

    kind: SignalKind
    media: str
    encoding: str
    body: bytes

    def read(self) -> tuple[Export, int]:
        """Returns what is in it, and its size in bytes when it is unpacked.

        Raises:
            MediaError: It is packed in a way that is not read.
            SizeError: It is too large when it is unpacked.
            TranscriptError: It is broken.
        """
        data = unpacked(self.body, self.encoding, _LARGEST)
        return read_export(data, self.media, self.kind), len(data)


def media_type(content_type: str) -> str:
    """The form of a body, which is that of the answer too.

    Args:
        content_type: As the header says; empty where there is none.

    Raises:
        MediaError: It is neither protobuf nor JSON.
    """
    media = content_type.partition(";")[0].strip().lower()
    if media in (PROTOBUF, JSON):
        return media
    what = "gRPC" if media.startswith(_GRPC) else repr(media[:60]) if media else "no Content-Type"
    raise MediaError(
        f"{what}: expected {PROTOBUF} or {JSON}. "
        "Set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf at the exporter"
    )


def unpacked(body: bytes, encoding: str, largest: int) -> bytes:
    """A body as it was before it was packed.

    Args:
        encoding: The header ``Content-Encoding``; empty where there is none.
        largest: Bytes that it may have when it is unpacked.

    Raises:
        MediaError: It is packed in another way than gzip or deflate.
        SizeError: It is larger.
        TranscriptError: It is broken.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return body
    window = _WINDOWS.get(name)
    if window is None:
        raise MediaError(
            f"{name[:60]!r}: expected gzip. Set OTEL_EXPORTER_OTLP_COMPRESSION=gzip, or unset it"
        )
    stream = zlib.decompressobj(window)
    try:
        data = stream.decompress(body, largest + 1)
    except zlib.error as error:
        raise TranscriptError(f"not {name}: {error}", hint="See the header Content-Encoding.") from None
    if len(data) > largest:
        raise SizeError(
            f"more than {largest >> 20} MB when it is unpacked. Set OTEL_BSP_MAX_EXPORT_BATCH_SIZE lower"
        )
    if not stream.eof:
        raise TranscriptError(f"not {name}: it ends too early")
    return data


def read_export(body: bytes, media: str, signal: SignalKind) -> Export:
    """Reads a body.

    Args:
        signal: What is exported; metrics hold nothing that is used.

    Raises:
        TranscriptError: It is none of these.
    """
    return _read_protobuf(body, signal) if media == PROTOBUF else _read_json(body, signal)


#: The message in protobuf, and what counts the rejected ones in both forms.
_ANSWERS: Final[dict[SignalKind, tuple[Any, str, str]]] = {
    SignalKind.TRACES: (ExportTraceServiceResponse, "rejected_spans", "rejectedSpans"),
    SignalKind.LOGS: (ExportLogsServiceResponse, "rejected_log_records", "rejectedLogRecords"),
    SignalKind.METRICS: (ExportMetricsServiceResponse, "rejected_data_points", "rejectedDataPoints"),
}


def export_answer(media: str, kind: SignalKind, *, rejected: int = 0, reason: str = "") -> bytes:
    """The body of the answer.

    Args:
        media: The form of the request, which is that of the answer.
        rejected: How many spans or records could not be used.
        reason: Why, or what else to know; empty where there is nothing.

    >>> export_answer("application/json", SignalKind.TRACES, rejected=1, reason="1 of 2 spans ...")
    b'{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "1 of 2 spans ..."}}'
    """
    message, field, key = _ANSWERS[kind]
    if media == PROTOBUF:
        response = message()
        if reason:
            setattr(response.partial_success, field, rejected)
            response.partial_success.error_message = reason
        data: bytes = response.SerializeToString()
        return data
    partial = {"partialSuccess": {key: str(rejected), "errorMessage": reason}} if reason else {}
    return json.dumps(partial).encode()


def _read_json(body: bytes, signal: SignalKind) -> Export:
    try:
        return _export(json_value(body), signal)
    except UnicodeDecodeError as error:
        raise TranscriptError(f"not UTF-8: {error.reason}") from None
    except RecursionError:
        raise TranscriptError("nested too deeply to be read") from None


def _export(value: Any, signal: SignalKind) -> Export:
    if not isinstance(value, dict):
        raise TranscriptError(f"expected an object with resourceSpans, found {shape(value)}")
    if signal is SignalKind.TRACES:
        return _usable(list(raw_spans(value)), _count(value, GROUPS, SCOPES, ("spans",)))
    return Export(logs=tuple(raw_logs(value)) if signal is SignalKind.LOGS else ())


def _count(value: Mapping[str, Any], *levels: tuple[str, ...]) -> int:
    """Items at the lowest of some levels of lists."""
    holders: list[Any] = [value]
    for names in levels:
        holders = [item for holder in holders for name in names for item in items(mapping(holder).get(name))]
    return len(holders)


def _read_protobuf(body: bytes, signal: SignalKind) -> Export:
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
    return _usable(spans, len(spans))


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
    """Returns an id in hexadecimal, as in JSON; None for zeros, which stand for none."""
    return value.hex() if any(value) else None


def _seconds(nanoseconds: int) -> float | None:
    return nanoseconds / _NANOSECONDS if nanoseconds else None


def _usable(spans: Sequence[RawSpan], count: int) -> Export:
    """The spans that have ids, of so many that were sent."""
    with_ids = tuple(span for span in spans if span.trace and span.id)
    rejected = count - len(with_ids)
    reason = f"{rejected} of {count} spans have no traceId or spanId" if rejected else ""
    return Export(spans=with_ids, rejected=rejected, reason=reason)
