"""Answers to an exporter: that its export was taken, and what of it could not be used."""

from __future__ import annotations

import json
from typing import Any, Final

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from ebbtide.service.otlp.export import SignalKind
from ebbtide.service.otlp.export_body import PROTOBUF

#: Why nothing is done with metrics.
NO_METRICS: Final = "Metrics are not used. Set OTEL_METRICS_EXPORTER=none to save sending them."
#: The message in protobuf, and what counts the rejected ones in both forms.
_FORMS: Final[dict[SignalKind, tuple[Any, str, str]]] = {
    SignalKind.TRACES: (ExportTraceServiceResponse, "rejected_spans", "rejectedSpans"),
    SignalKind.LOGS: (ExportLogsServiceResponse, "rejected_log_records", "rejectedLogRecords"),
    SignalKind.METRICS: (ExportMetricsServiceResponse, "rejected_data_points", "rejectedDataPoints"),
}


def export_answer(media: str, kind: SignalKind, *, rejected: int = 0, reason: str = "") -> bytes:
    """The body of the answer.

    Args:
        media: The form of the request, which is that of the answer.
        kind: What was exported.
        rejected: How many spans or records could not be used.
        reason: Why, or what else to know; empty where there is nothing.

    >>> export_answer("application/json", SignalKind.TRACES, rejected=1, reason="1 of 2 spans ...")
    b'{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "1 of 2 spans ..."}}'
    """
    message, field, key = _FORMS[kind]
    if media == PROTOBUF:
        response = message()
        if reason:
            setattr(response.partial_success, field, rejected)
            response.partial_success.error_message = reason
        data: bytes = response.SerializeToString()
        return data
    partial = {"partialSuccess": {key: str(rejected), "errorMessage": reason}} if reason else {}
    return json.dumps(partial).encode()
