"""The receiver of OpenTelemetry: spans and log records of runs, as exporters send them over OTLP/HTTP."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from ebbtide.errors import StoreError
from ebbtide.service.otlp.export import (
    JSON,
    NO_METRICS,
    PROTOBUF,
    MediaError,
    PackedExport,
    SignalKind,
    SizeError,
    export_answer,
    media_type,
)
from ebbtide.service.web.problems import ProblemError
from ebbtide.service.web.service import Here, Service
from ebbtide.service.web.sign_in import fits

router = APIRouter(tags=["OpenTelemetry"])

_log = logging.getLogger(__name__)
_EVERY_S: Final = 0.25
_BINARY: Final = {"schema": {"type": "string", "format": "binary"}}
_OBJECT: Final = {"schema": {"type": "object"}}
_EXTRA: Final[dict[str, Any]] = {
    "requestBody": {"required": True, "content": {PROTOBUF: _BINARY, JSON: _OBJECT}},
    "responses": {
        "200": {
            "description": "Taken; `partialSuccess` says of what could not be used.",
            "content": {PROTOBUF: _BINARY, JSON: _OBJECT},
        }
    },
}


@router.post("/v1/traces", openapi_extra=_EXTRA, response_class=Response)
async def traces(request: Request, here: Here) -> Response:
    """Take spans of an OTLP exporter: set its OTEL_EXPORTER_OTLP_ENDPOINT to the address of the service.

    When this answers, they are on disk. Their runs are watched after a wait for spans that come later.
    """
    return await _taken(request, here, SignalKind.TRACES)


@router.post("/v1/logs", openapi_extra=_EXTRA, response_class=Response)
async def logs(request: Request, here: Here) -> Response:
    """Take log records of an OTLP exporter: those with messages of models are joined to their spans."""
    return await _taken(request, here, SignalKind.LOGS)


@router.post("/v1/metrics", openapi_extra=_EXTRA, response_class=Response)
async def metrics(request: Request) -> Response:
    """Take metrics of an OTLP exporter, and say that they are not used."""
    media = _media(request)
    return Response(export_answer(media, SignalKind.METRICS, reason=NO_METRICS), media_type=media)


async def settle_spans(here: Service) -> None:
    """Give the runs the spans that have waited, and all of them at the end."""
    receiver = here.spans.receiver
    try:
        await _work(here.spans.resume())
        while True:
            await asyncio.sleep(0.0 if receiver.has_more else _EVERY_S)
            await _work(here.spans.submit(receiver.settle))
    finally:
        await _work(here.spans.submit(receiver.finish))


async def receive_by_grpc(here: Service) -> None:
    """Take exports over gRPC, if the service was started with a port for them."""
    settings = here.settings
    if settings.grpc_port is None:
        return
    from ebbtide.service.otlp.grpc_door import receive_exports  # needs a package that few have

    host = f"[{settings.host}]" if ":" in settings.host else settings.host

    def is_known(words: str) -> bool:
        scheme, _, token = words.partition(" ")
        return settings.token is None or (scheme.lower() == "bearer" and fits(token, settings.token))

    address = f"{host}:{settings.grpc_port}"
    try:
        await receive_exports(here.spans, address, is_known=is_known, largest=settings.largest_body)
    except RuntimeError as error:
        _log.error("exports over gRPC are not taken: %s: %s", address, error)


async def _work(step: Future[None]) -> None:
    """Wait for something that is done beside the requests; what fails is tried again by the next step."""
    try:
        await asyncio.wrap_future(step)
    except StoreError as error:
        _log.error("spans wait for the disk: %s", error)
    except Exception:  # noqa: BLE001 - the next step goes on
        _log.exception("a fault of the receiver of spans")


async def _taken(request: Request, here: Service, kind: SignalKind) -> Response:
    media = _media(request)
    encoding = request.headers.get("content-encoding", "")
    packed = PackedExport(kind=kind, media=media, encoding=encoding, body=await request.body())
    try:
        export = await asyncio.wrap_future(here.spans.take(packed))
    except MediaError as error:
        raise ProblemError(415, str(error), where="Content-Encoding") from None
    except SizeError as error:
        raise ProblemError(413, str(error)) from None
    return Response(
        export_answer(media, kind, rejected=export.rejected, reason=export.reason), media_type=media
    )


def _media(request: Request) -> str:
    try:
        return media_type(request.headers.get("content-type", ""))
    except MediaError as error:
        raise ProblemError(415, str(error), where="Content-Type") from None
