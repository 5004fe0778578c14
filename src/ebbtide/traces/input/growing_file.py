"""A file that is written while it is read: its last line may not be whole yet."""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.json_value import json_value


def without_cut_line(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces of a file of lines, without a last line that has no end and is no JSON.

    A file of one line stays as it is.

    Args:
        pieces: The file.
    """
    rest: list[bytes] = []  # what may be a line that is not whole
    has_lines = False
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            has_lines = True
            yield b"".join((*rest, piece[:end]))
            rest.clear()
        if end < len(piece):
            rest.append(piece[end:])
    last = b"".join(rest)
    if last and (not has_lines or _is_json(last)):
        yield last


def _is_json(line: bytes) -> bool:
    try:
        json_value(line)
    except (TranscriptError, UnicodeDecodeError, RecursionError):
        return False
    return True
