"""Tail of a session that OpenCode 1.0 writes: a file for each message and for each part of one."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ebbtide.errors import TranscriptError
from ebbtide.traces.agents.opencode_storage import message_folder, message_lines, session_head
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.records.fields import mapping, seconds

_PARTS_S: Final = 0.5  # after which no more parts of a person's words come


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpenMessage:
    """A message that was not given out.

    Args:
        file: Its file.
        at: When it was complete, in seconds since 1970.
        is_whole: Whether all of its parts are there.
    """

    file: Path
    at: float
    is_whole: bool


class FolderTail:
    """Tail of a session: each message when it is complete, an answer with all of its calls.

    A message is read once when it is complete. What a look costs besides is the list of the names.

    Args:
        path: As for `is_session_file`.

    Attributes:
        is_waiting: True if something is there that was not given out yet.

    Raises:
        TranscriptError: It cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.is_waiting = False
        self._head = session_head(path)
        self._folder = message_folder(path)
        self._lines_of: set[str] = set()  # messages whose lines were given out
        self._states: dict[str, object] = {}  # of the files of messages that were not complete

    def look(self) -> bytes:
        """Lines that are new, as in `session_lines`; none where nothing is.

        Raises:
            TranscriptError: It cannot be read any more.
        """
        names = self._names()
        last = max(names, default="")
        waiting = [
            message
            for name in names
            if name not in self._lines_of
            and (message := self._open_message(self._folder / name, is_last=name == last)) is not None
        ]
        lines: list[bytes] = []
        self.is_waiting = False
        # By the end of each: whoever reads the session anew gets the same order.
        for message in sorted(waiting, key=lambda message: (message.at, message.file.name)):
            if not message.is_whole:
                self.is_waiting = True
                break
            self._lines_of.add(message.file.name)
            lines += message_lines(message.file)
        if lines and self._head:
            lines.insert(0, self._head)
            self._head = b""
        return b"".join(lines)

    def _names(self) -> list[str]:
        try:
            names = os.listdir(self._folder)  # noqa: PTH208 - a Path of each of many files takes long
        except OSError:  # there is no message yet
            return []
        return [name for name in names if name.endswith(".json")]

    def _open_message(self, file: Path, *, is_last: bool) -> _OpenMessage | None:
        """Returns a message that is complete, or all but its last parts; None for one that is not."""
        try:
            status = file.stat()
            state = (status.st_size, status.st_mtime_ns)
            if self._states.get(file.name) == state:
                return None
            head = mapping(json_value(file.read_bytes()))
        except (OSError, TranscriptError, UnicodeDecodeError, RecursionError):
            return None  # it is being written, or gone
        is_question = head.get("role") == "user"
        at = seconds(mapping(head.get("time")).get("created" if is_question else "completed"))
        if at is None:
            self._states[file.name] = state
            return None
        is_old = not is_last or time.time() - status.st_mtime > _PARTS_S
        return _OpenMessage(file=file, at=at, is_whole=not is_question or is_old)
