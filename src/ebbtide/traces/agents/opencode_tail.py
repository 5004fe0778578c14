"""A session in the database of OpenCode while it goes on."""

from __future__ import annotations

import os
from pathlib import Path

from ebbtide.traces.agents.opencode_storage import database_rows, open_database, row_lines, session_head


class SessionTail:
    """What comes into a session, each message when it is complete: an answer with all of its calls.

    Args:
        path: As for `is_in_database`.

    Raises:
        TranscriptError: It cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._head = session_head(path)
        self._lines_of: set[str] = set()  # messages whose lines were given out
        self._state: object = None

    def look(self) -> bytes:
        """Lines that are new, as in `session_lines`; none where nothing is.

        Raises:
            TranscriptError: It cannot be read any more.
        """
        state = self._state_of_files()
        if state == self._state:
            return b""
        lines: list[bytes] = []
        with open_database(self._path.parent) as database:
            for row in database_rows(database, self._path.name):
                if row.name in self._lines_of:
                    continue
                parts = row.parts(database)
                if row.is_complete or (row.is_question and parts):
                    self._lines_of.add(row.name)
                    lines += row_lines(row, parts)
        self._state = state
        if lines and self._head:
            lines.insert(0, self._head)
            self._head = b""
        return b"".join(lines)

    def _state_of_files(self) -> object:
        """What changes with every change of the database."""
        states = []
        for suffix in ("", "-wal"):
            try:
                status = Path(f"{self._path.parent}{suffix}").stat()
            except OSError:
                continue
            states.append((status.st_ino, status.st_size, status.st_mtime_ns))
        return states
