"""Bodies of exporters: protobuf and JSON, packed or not, whole or broken."""

import gzip
import json
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ebbtide.errors import EbbtideError, TranscriptError
from ebbtide.service.otlp.export import (
    JSON,
    PROTOBUF,
    MediaError,
    SignalKind,
    SizeError,
    media_type,
    read_export,
    unpacked,
)
from ebbtide.service.otlp.span_intake import SpanIntake

EXPORTS = Path(__file__).parent / "exports"


def as_protobuf(value: dict[str, Any]) -> bytes:
    """The same spans in protobuf, made by hand: ids are bytes there."""
    request = ExportTraceServiceRequest()
    for group in value["resourceSpans"]:
        resource_spans = request.resource_spans.add()
        for entry in group["resource"]["attributes"]:
            resource_spans.resource.attributes.add(key=entry["key"]).value.string_value = entry["value"][
                "stringValue"
            ]
        for scope in group["scopeSpans"]:
            scope_spans = resource_spans.scope_spans.add()
            scope_spans.scope.name = scope["scope"]["name"]
            for span in scope["spans"]:
                item = scope_spans.spans.add(
                    trace_id=bytes.fromhex(span["traceId"]),
                    span_id=bytes.fromhex(span["spanId"]),
                    parent_span_id=bytes.fromhex(span["parentSpanId"]),
                    name=span["name"],
                    start_time_unix_nano=int(span["startTimeUnixNano"]),
                    end_time_unix_nano=int(span["endTimeUnixNano"]),
                )
                for entry in span["attributes"]:
                    value = item.attributes.add(key=entry["key"]).value
                    if "intValue" in entry["value"]:
                        value.int_value = int(entry["value"]["intValue"])
                    else:
                        value.string_value = entry["value"]["stringValue"]
    return request.SerializeToString()


def test_both_forms_are_the_same(wire: SimpleNamespace) -> None:
    """JSON with hexadecimal ids and whole numbers as texts, and protobuf."""
    spans = wire.request(wire.model("t:1<a", 1, 2), wire.tool("t:2<a", 2, 3), wire.agent("t:a", 0, 4))
    by_json = read_export(json.dumps(spans).encode(), JSON, SignalKind.TRACES)
    assert read_export(as_protobuf(spans), PROTOBUF, SignalKind.TRACES) == by_json
    assert by_json.spans[0].trace == wire.trace_id("t")
    assert by_json.spans[0].attributes["gen_ai.usage.input_tokens"] == 100


@pytest.mark.parametrize(
    ("header", "media"),
    [
        ("application/x-protobuf", PROTOBUF),
        ("application/json; charset=utf-8", JSON),
        ("Application/JSON", JSON),
    ],
)
def test_media_types(header: str, media: str) -> None:
    assert media_type(header) == media


@pytest.mark.parametrize(
    ("header", "words"),
    [("application/grpc+proto", "gRPC"), ("", "no Content-Type"), ("text/plain", "text/plain")],
)
def test_other_media_types(header: str, words: str) -> None:
    """The message says what to set at the exporter."""
    with pytest.raises(MediaError, match=words) as caught:
        media_type(header)
    assert "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf" in str(caught.value)


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("", bytes), ("identity", bytes)],
)
def test_packed_bodies(encoding: str, pack: Any) -> None:
    assert unpacked(pack(b"hello"), encoding, 5) == b"hello"


def test_bodies_that_are_not_taken() -> None:
    """Too large when unpacked, though small when packed; broken; packed in another way."""
    bomb = gzip.compress(bytes(10_000_000))
    with pytest.raises(SizeError, match="more than 1 MB"):
        unpacked(bomb, "gzip", 1 << 20)
    with pytest.raises(TranscriptError, match="not gzip"):
        unpacked(b"hello", "gzip", 100)
    with pytest.raises(TranscriptError, match="ends too early"):
        unpacked(bomb[:-9], "gzip", 1 << 30)
    with pytest.raises(MediaError, match="zstd"):
        unpacked(b"hello", "zstd", 100)


@pytest.mark.parametrize(
    ("body", "media"),
    [(b"\xff\xff\xff", PROTOBUF), (b"{", JSON), (b"[]", JSON), (b"\xff", JSON), (b"", JSON)],
)
def test_broken_bodies(body: bytes, media: str) -> None:
    with pytest.raises(TranscriptError):
        read_export(body, media, SignalKind.TRACES)


def test_spans_without_ids_are_refused(wire: SimpleNamespace) -> None:
    """They are counted; the others are taken."""
    spans = wire.request({**wire.tool("t:1", 1, 2), "traceId": ""}, wire.tool("t:2", 2, 3), {"name": 5})
    export = read_export(json.dumps(spans).encode(), JSON, SignalKind.TRACES)
    assert (len(export.spans), export.rejected) == (1, 2)
    assert export.reason == "2 of 3 spans have no traceId or spanId"


def test_content_in_logs(wire: SimpleNamespace) -> None:
    """Messages that were logged beside the span of their call, before it or after."""
    request = ExportLogsServiceRequest()
    record = (
        request.resource_logs.add()
        .scope_logs.add()
        .log_records.add(
            trace_id=bytes.fromhex(wire.trace_id("t")),
            span_id=b"1".rjust(8, b"\0"),
            event_name="gen_ai.choice",
        )
    )
    message = record.body.kvlist_value.values.add(key="message").value.kvlist_value.values
    message.add(key="content").value.string_value = "It was 41.2 million."
    logs = read_export(request.SerializeToString(), PROTOBUF, SignalKind.LOGS)
    assert len(logs.logs) == 1
    spans = read_export(
        json.dumps(wire.request(wire.span("t:1", 1, 2, attributes={"gen_ai.request.model": "m"}))).encode(),
        JSON,
        SignalKind.TRACES,
    )
    for exports in ((logs, spans), (spans, logs)):
        intake = SpanIntake(wait_s=1.0)
        for export in exports:
            intake.take(export, 0.0, size=1)
        (run,) = intake.settle(1.0)
        assert [event.text for event in run.events] == ["It was 41.2 million."]


@given(
    place=st.integers(0, 3000), byte=st.integers(0, 255), name=st.sampled_from(sorted(EXPORTS.glob("*.gz")))
)
def test_changed_bytes_never_break_the_receiver(place: int, byte: int, name: Path) -> None:
    """A body is refused as a whole, or what is in it is taken."""
    body = bytearray(gzip.decompress(name.read_bytes()))
    body[place % len(body)] = byte
    intake = SpanIntake(wait_s=1.0)
    try:
        intake.take(read_export(bytes(body), PROTOBUF, SignalKind.TRACES), 0.0, size=1)
    except EbbtideError:
        return
    intake.settle(1.0)
    intake.finish()
