"""Bytes in, UTF-8 out: compression, byte order marks, and what is no text at all."""

from __future__ import annotations

import codecs

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.unpacking import PACKED, unpack

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK = 1 << 20


def utf8(data: bytes) -> bytes:
    """`data` as valid UTF-8 without a byte order mark.

    gzip and zstandard are unpacked, UTF-16 with a byte order mark is converted.

    Raises:
        TranscriptError: There is nothing in it, it is binary, or its compression or encoding is broken.
    """
    if data.startswith(PACKED):
        data = b"".join(unpack(iter((data,))))
    if data.startswith(_UTF_16):
        data = _from_utf16(data)
    else:
        _check_utf8(data)
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data or data.isspace():
        raise TranscriptError(
            "the input is empty", hint="A conversation has at least one round.", no_trace=True
        )
    return data


def zero_byte(data: bytes) -> TranscriptError:
    """Returns the error to report of bytes among which there is a zero."""
    return TranscriptError(
        f"binary, not text: a zero byte at byte {data.find(0)}",
        hint="UTF-16 needs a byte order mark.",
        no_trace=True,
    )


def not_utf8(error: UnicodeDecodeError, *, offset: int = 0, line: int) -> TranscriptError:
    """Returns the error to report of bytes that are no UTF-8.

    Args:
        error: Where decoding stopped, counted from `offset`.
        offset: Where the decoded part starts in its input.
        line: The line in which decoding stopped.
    """
    byte = error.object[error.start]
    return TranscriptError(
        f"not UTF-8: {error.reason}, 0x{byte:02x} at byte {offset + error.start}",
        line=line,
        hint="Save the file as UTF-8, or as UTF-16 with a byte order mark.",
    )


def _from_utf16(data: bytes) -> bytes:
    try:
        return data.decode("utf-16").encode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-16", errors="replace")
        raise TranscriptError(
            f"not UTF-16, though it starts with its byte order mark: {error.reason} at byte {error.start}",
            line=before.count("\n") + 1,
        ) from error


def _check_utf8(data: bytes) -> None:
    if b"\0" in data:
        raise zero_byte(data)
    # In pieces: one string of it all can take four times the memory of the bytes.
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[start : start + _CHUNK], final=start + _CHUNK >= len(data))
        except UnicodeDecodeError as error:
            offset = start - pending
            line = data.count(b"\n", 0, offset + error.start) + 1
            raise not_utf8(error, offset=offset, line=line) from error
