"""gzip or zstandard in, its content out, in bounded memory.

What unpacks to far more than any trace does is refused.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from itertools import chain

from ebbtide.errors import TranscriptError

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
PACKED = (_GZIP, _ZSTD)  #: how packed inputs begin
#: Times its packed size that an input may unpack to. Traces reach 30, and 70 where they hardly vary.
MOST_RATIO = 200
#: The same for zstandard, which finds a context that each call of a model repeats: traces reach 410.
MOST_ZSTD_RATIO = 2_000
#: Bytes that any input may unpack to, whatever its packed size.
FREE = 4 << 20
_PIECE = 1 << 18


def unpack(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The content of gzip or zstandard, piece by piece; none of the pieces is empty.

    Nothing of an input is given out before its first `FREE` bytes have been looked at.

    Args:
        pieces: The packed bytes, at least four in the first piece; several members may follow each other.

    Raises:
        TranscriptError: It is broken from here on, or it unpacks to far more than its size.
    """
    waiting: list[bytes] = []
    packed = size = 0
    first = next(pieces, b"")
    is_gzip = first.startswith(_GZIP)
    steps = (_inflate if is_gzip else _expand)(chain((first,), pieces))
    most_ratio = MOST_RATIO if is_gzip else MOST_ZSTD_RATIO
    while True:
        try:
            step, data = next(steps)
        except StopIteration:
            yield from waiting
            return
        except TranscriptError:
            yield from waiting
            raise
        packed += step
        size += len(data)
        waiting += [data] if data else []
        if size > FREE:
            refuse_bomb(packed, size, most_ratio)
            yield from waiting
            waiting.clear()


def refuse_bomb(packed: int, size: int, most_ratio: int) -> None:
    """Refuse what unpacks to too much.

    Args:
        packed: Bytes of it as it is.
        size: Bytes that these become.
        most_ratio: How many times more that may be.

    Raises:
        TranscriptError: It is more, and more than `FREE`.
    """
    if size > FREE and size > most_ratio * packed:
        raise TranscriptError(
            f"it unpacks to more than {most_ratio:,} times its size",
            hint="Unpack it first if you trust it.",
        )


def _inflate(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yields the number of packed bytes of each step, and what they gave."""
    unpacker = zlib.decompressobj(wbits=31)
    rest = next(pieces, b"")
    while True:
        try:
            data = unpacker.decompress(rest, _PIECE)
        except zlib.error as error:
            raise TranscriptError(f"broken gzip: {error}", hint="Was the file cut off?") from error
        yield len(rest) - len(unpacker.unconsumed_tail) - len(unpacker.unused_data), data
        if unpacker.eof:
            # Another member may follow; zeros are padding.
            rest = unpacker.unused_data.lstrip(b"\0") or next(pieces, b"").lstrip(b"\0")
            if not rest:
                return
            unpacker = zlib.decompressobj(wbits=31)
        elif unpacker.unconsumed_tail:
            rest = unpacker.unconsumed_tail
        else:
            rest = next(pieces, b"")
            if not rest:
                raise TranscriptError("broken gzip: it ends too soon", hint="Was the file cut off?")


def _expand(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The same for zstandard."""
    # Loaded where it is needed, which is seldom.
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor, ZstdError
    else:
        from backports.zstd import ZstdDecompressor, ZstdError

    unpacker = ZstdDecompressor()
    rest = next(pieces, b"")
    while True:
        try:
            data = unpacker.decompress(rest, _PIECE)
        except ZstdError as error:
            raise TranscriptError(f"broken zstandard: {error}", hint="Was the file cut off?") from error
        yield len(rest) - len(unpacker.unused_data), data
        if unpacker.eof:
            rest = unpacker.unused_data or next(pieces, b"")
            if not rest:
                return
            unpacker = ZstdDecompressor()
        elif unpacker.needs_input:
            rest = next(pieces, b"")
            if not rest:
                raise TranscriptError("broken zstandard: it ends too soon", hint="Was the file cut off?")
        else:
            rest = b""
