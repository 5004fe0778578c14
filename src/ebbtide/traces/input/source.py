"""Sources of bytes: a file, or standard input; compressed or not, in UTF-8 or in UTF-16."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from ebbtide.errors import TranscriptError
from ebbtide.regular_file import SpecialFileError, open_regular
from ebbtide.traces.input.unpacking import PACKED, unpack

STDIN = "-"
ZIP = b"PK\x03\x04"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK = 1 << 18
_SESSION_FILE = re.compile(r"ses_\w+\.json")
_SUFFIXES = (".jsonl", ".ndjson", ".eval", ".traj")  # of files that hold nothing but traces, or data


def source_name(path: str | os.PathLike[str]) -> str:
    """Returns the name of this input in messages."""
    return "<stdin>" if os.fspath(path) == STDIN else os.fspath(path)


def begins_with(file: Path, mark: bytes) -> bool:
    """True if these are the first bytes of a file.

    Raises:
        OSError: It cannot be read.
    """
    with file.open("rb") as opened:
        return opened.read(len(mark)) == mark


def is_named_like_a_trace(source: str) -> bool:
    """True if a file is a trace by its name, whatever is in it."""
    return Path(source.lower().removesuffix(".gz").removesuffix(".zst")).suffix in _SUFFIXES


def is_session_file(path: str | os.PathLike[str]) -> bool:
    """True if a path is that of a session in the folders of OpenCode 1.0; its messages stand in others."""
    file = Path(path)
    return _SESSION_FILE.fullmatch(file.name) is not None and file.parts[-4:-2] == ("storage", "session")


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Everything in the file, or in standard input for ``-``; gzip and zstandard are unpacked.

    Raises:
        TranscriptError: It cannot be read, or holds more.
    """
    data, ended = gather(b"", unpacked_pieces(path), most + 1)
    if not ended:
        raise TranscriptError(
            f"more than {most:,} bytes", source=source_name(path), hint="Split it, or give a smaller one."
        )
    return data


def unpacked_pieces(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """The file, or standard input for ``-``, piece by piece, unpacked, in the encoding that it has.

    Raises:
        TranscriptError: It cannot be read, or not any further: what came before stands.
    """
    pieces = _start(_raw_pieces(path))
    first = next(pieces, b"")
    if not first.startswith(PACKED):
        yield from chain((first,), pieces) if first else ()
        return
    try:
        yield from unpack(chain((first,), pieces))
    except TranscriptError as error:
        raise error.located(source=source_name(path)) from error


def read_pieces(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """The file, or standard input for ``-``, piece by piece; none of the pieces is empty.

    gzip and zstandard are unpacked, UTF-16 with a byte order mark becomes UTF-8, the byte order mark goes.

    Raises:
        TranscriptError: It cannot be read, or not any further: what came before stands.
    """
    return decoded_pieces(_raw_pieces(path))


def decoded_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces of an input, unpacked and as UTF-8.

    Raises:
        TranscriptError: The compression or the encoding breaks here.
    """
    pieces = _start(pieces)
    first = next(pieces, b"")
    if first.startswith(PACKED):
        pieces = _start(unpack(chain((first,), pieces)))
        first = next(pieces, b"")
    if first.startswith(_UTF_16):
        yield from _from_utf16(first, pieces)
        return
    first = first.removeprefix(codecs.BOM_UTF8)
    if first:
        yield first
    yield from pieces


@contextmanager
def readable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns what the system says about this input into a TranscriptError."""
    source = source_name(path)
    try:
        yield
    except TranscriptError:
        raise
    except FileNotFoundError as error:
        raise TranscriptError("no such file", source=source) from error
    except IsADirectoryError as error:
        raise TranscriptError("a folder, not a file", source=source) from error
    except SpecialFileError as error:
        hint = "Give what it brings as standard input, which is called -."
        raise TranscriptError(str(error.strerror), source=source, hint=hint) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise TranscriptError(f"cannot be read: {reason or error}", source=source) from error


def gather(head: bytes, pieces: Iterator[bytes], size: int) -> tuple[bytes, bool]:
    """At least `size` bytes from the start, and whether that is all."""
    parts, have = [head], len(head)
    while have < size:
        piece = next(pieces, b"")
        if not piece:
            return b"".join(parts), True
        parts.append(piece)
        have += len(piece)
    return b"".join(parts), False


def _raw_pieces(path: str | os.PathLike[str]) -> Iterator[bytes]:
    with readable(path):
        if os.fspath(path) == STDIN:
            yield from _pieces(sys.stdin.buffer)
        else:
            with open_regular(path) as file:
                yield from _pieces(file)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    read = getattr(file, "read1", file.read)  # What a pipe has now, rather than waiting for a full piece.
    while data := read(_CHUNK):
        yield data


def _start(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, the first of them long enough to tell what it is."""
    first = b""
    for piece in pieces:
        first += piece
        if len(first) >= 4:
            break
    if first:
        yield first
    yield from pieces


def _from_utf16(first: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        if text := decoder.decode(first):
            yield text.encode()
        for piece in pieces:
            if text := decoder.decode(piece):
                yield text.encode()
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise TranscriptError(
            f"not UTF-16, though it starts with its byte order mark: {error.reason}"
        ) from error
