"""The body of an exporter's request: how it is packed, and in which form."""

from __future__ import annotations

import zlib
from typing import Final

from ebbtide.errors import EbbtideError, TranscriptError
from ebbtide.service.otlp.export import Export, SignalKind
from ebbtide.service.otlp.json_export import read_json

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
    """What is in a body.

    Args:
        body: Unpacked.
        media: `PROTOBUF` or `JSON`.
        signal: What is exported; metrics hold nothing that is used.

    Raises:
        TranscriptError: It is none of these.
    """
    if media == PROTOBUF:
        from ebbtide.service.otlp.protobuf_export import read_protobuf

        return read_protobuf(body, signal)
    return read_json(body, signal)
