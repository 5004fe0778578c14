"""The body of an exporter's request: how it is packed, and in which form."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from ebbtide.errors import EbbtideError, TranscriptError
from ebbtide.service.otlp.export import Export, SignalKind, usable
from ebbtide.traces.input.document import shape
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.records.fields import items, mapping
from ebbtide.traces.telemetry.raw_spans import (
    GROUPS,
    SCOPES,
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


class MediaError(EbbtideError):
    """A body is in a form that is not read: HTTP 415."""


class SizeError(EbbtideError):
    """A body is too large when it is unpacked: HTTP 413."""


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
        body: As it came.
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
        body: Unpacked.
        media: `PROTOBUF` or `JSON`.
        signal: What is exported; metrics hold nothing that is used.

    Raises:
        TranscriptError: It is none of these.
    """
    if media == PROTOBUF:
        return read_protobuf(body, signal)
    return read_json(body, signal)


def read_json(body: bytes, signal: SignalKind) -> Export:
    """Reads a body of JSON.

    Raises:
        TranscriptError: It is no such JSON.
    """
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
        return usable(list(raw_spans(value)), _count(value, GROUPS, SCOPES, ("spans",)))
    return Export(logs=tuple(raw_logs(value)) if signal is SignalKind.LOGS else ())


def _count(value: Mapping[str, Any], *levels: tuple[str, ...]) -> int:
    """Items at the lowest of some levels of lists."""
    holders: list[Any] = [value]
    for names in levels:
        holders = [item for holder in holders for name in names for item in items(mapping(holder).get(name))]
    return len(holders)


_NANOSECONDS: Final = 1e9
_DEEPEST: Final = 32  # values in each other


def read_protobuf(body: bytes, signal: SignalKind) -> Export:
    """Reads a body of protobuf.

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
