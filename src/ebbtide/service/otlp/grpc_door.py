"""The receiver of OpenTelemetry over gRPC, on a port of its own beside the HTTP of the service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc
from grpc import aio

from ebbtide.database.group_writer import QueueFullError
from ebbtide.errors import EbbtideError, StoreError
from ebbtide.service.otlp.export import NO_METRICS, PROTOBUF, PackedExport, SignalKind, export_answer
from ebbtide.service.otlp.span_worker import SpanWorker

_METHODS: Final = {
    f"/opentelemetry.proto.collector.{service}/Export": kind
    for kind, service in (
        (SignalKind.TRACES, "trace.v1.TraceService"),
        (SignalKind.LOGS, "logs.v1.LogsService"),
        (SignalKind.METRICS, "metrics.v1.MetricsService"),
    )
}
_MOST: Final = 64  # exports at once
_GRACE_S: Final = 1.0  # that open exports have at the end

_Export = Callable[[bytes, Any], Awaitable[bytes]]


# Other forms of a handler see the token after the body. The package has no types.
class _ExportMethods(grpc.GenericRpcHandler):  # type: ignore[misc]
    """The methods of the three collectors.

    Args:
        is_known: True for the words of a header ``authorization`` that may export.
    """

    def __init__(self, spans: SpanWorker, is_known: Callable[[str], bool]) -> None:
        self._spans = spans
        self._is_known = is_known

    def service(self, handler_call_details: Any) -> Any:
        """Returns what answers a call; None for a method that is none of these."""
        kind = _METHODS.get(handler_call_details.method)
        if kind is None:
            return None
        metadata = dict(handler_call_details.invocation_metadata)
        answer = self._export(kind) if self._is_known(metadata.get("authorization", "")) else _refuse
        return grpc.unary_unary_rpc_method_handler(answer)

    def _export(self, kind: SignalKind) -> _Export:
        async def export(body: bytes, context: Any) -> bytes:
            if kind is SignalKind.METRICS:
                return export_answer(PROTOBUF, kind, reason=NO_METRICS)
            packed = PackedExport(kind=kind, media=PROTOBUF, encoding="", body=body)
            try:
                taken = await asyncio.wrap_future(self._spans.take(packed))
            except (QueueFullError, StoreError) as error:
                await context.abort(grpc.StatusCode.UNAVAILABLE, str(error))
            except EbbtideError as error:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            return export_answer(PROTOBUF, kind, rejected=taken.rejected, reason=taken.reason)

        return export


async def _refuse(_: bytes, context: Any) -> bytes:
    await context.abort(
        grpc.StatusCode.UNAUTHENTICATED,
        "The token is missing or wrong. Set OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20TOKEN",
    )
    return b""


async def receive_exports(
    spans: SpanWorker, address: str, *, is_known: Callable[[str], bool], largest: int
) -> None:
    """Takes exports until cancelled.

    Args:
        address: The host and the port, such as ``127.0.0.1:4317``.
        is_known: True for the words of a header ``authorization`` that may export.

    Raises:
        RuntimeError: The address cannot be had.
    """
    options = [("grpc.max_receive_message_length", largest), ("grpc.so_reuseport", 0)]
    server = aio.server(options=options, maximum_concurrent_rpcs=_MOST)
    server.add_generic_rpc_handlers((_ExportMethods(spans, is_known),))
    server.add_insecure_port(address)
    await server.start()
    try:
        await server.wait_for_termination()
    finally:
        await server.stop(_GRACE_S)
