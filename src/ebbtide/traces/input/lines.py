"""Bytes in as they come, lines out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

from ebbtide.traces.input.folder import refuse_special
from ebbtide.traces.input.json_value import value_or_none
from ebbtide.traces.input.source import readable

LONGEST_LINE = 100_000_000  # bytes


class LineSplitter:
    """Cuts bytes into lines; what is behind the last line end waits for its rest.

    Args:
        longest: Of a longer line only so many bytes and one more are kept, so that no input fills the memory.
    """

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._most = longest + 1
        self._rest: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that these bytes complete, without their ends."""
        lines = data.split(b"\n")
        last = lines.pop()
        if lines and self._rest:
            self._keep(lines[0])
            lines[0] = self._take()
        if last:
            self._keep(last)
        return lines

    def settle(self) -> list[bytes]:
        """The last line, if it has no end and is whole all the same; its end is an empty line then."""
        is_object = bool(self._rest) and self._rest[-1].rstrip().endswith(b"}")
        return self.finish() if is_object and value_or_none(b"".join(self._rest)) is not None else []

    def finish(self) -> list[bytes]:
        """The last line, if it has no end."""
        return [self._take()] if self._rest else []

    def _keep(self, piece: bytes) -> None:
        if self._size < self._most:
            self._rest.append(piece[: self._most - self._size])
            self._size += len(self._rest[-1])

    def _take(self) -> bytes:
        line = b"".join(self._rest)
        self._rest.clear()
        self._size = 0
        return line


def without_cut_line(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces of a file of lines, without a last line that has no end and is no JSON.

    A file of one line stays as it is.
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
    if last and (not has_lines or value_or_none(last) is not None):
        yield last


_CHUNK = 1 << 20
_FINGERPRINT = 64  # bytes


class Tail:
    """Reader of what comes into the file that has a name, whichever file that is.

    Args:
        path: The file. It may be emptied, rewritten or replaced meanwhile, or be away for a while.

    Raises:
        TranscriptError: The file cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        with readable(path):
            refusal = refuse_special(path)
            if refusal is not None and refusal.no_trace:
                refusal.hint = "Give what it brings as standard input, which is called -."
                raise refusal
            self._file = FileIO(path)
        self._last = b""

    def look(self) -> bytes | None:
        """Returns what is new, as far as one look takes in; None if the file begins anew."""
        if self._goes_on():
            data = self._file.read(_CHUNK)
            self._last = (self._last + data)[-_FINGERPRINT:]
            if data or not self._switch():
                return data
        self._file.seek(0)
        self._last = b""
        return None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _goes_on(self) -> bool:
        """True if what was read last still stands where it stood; the position is behind it again."""
        self._file.seek(-len(self._last), os.SEEK_CUR)
        return self._file.read(len(self._last)) == self._last

    def _switch(self) -> bool:
        """True if another file has the name now, which is then opened; there may also be none for a while."""
        try:
            if os.path.samestat(Path(self._path).stat(), os.fstat(self._file.fileno())):
                return False
            if refuse_special(self._path) is not None:
                return False
            newer = FileIO(self._path)
        except OSError:
            return False
        self._file.close()
        self._file = newer
        return True
