"""The bytes of a file that grows."""

from __future__ import annotations

import os
from io import FileIO
from pathlib import Path

from ebbtide.traces.input.folder import refuse_special
from ebbtide.traces.input.source import readable

_CHUNK = 1 << 20
_FINGERPRINT = 64  # bytes


class Tail:
    """What comes into the file that has a name, whichever file that is.

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
                refusal.hint = "Give it as standard input, which is called -."
                raise refusal
            self._file = FileIO(path)
        self._last = b""

    def look(self) -> bytes | None:
        """What is new, as far as one look takes in; None if the file begins anew."""
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
        """Whether what was read last still stands where it stood; the position is behind it again."""
        self._file.seek(-len(self._last), os.SEEK_CUR)
        return self._file.read(len(self._last)) == self._last

    def _switch(self) -> bool:
        """Whether another file has the name now; there may also be none for a while."""
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
