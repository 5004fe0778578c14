"""Tails of sessions that stand in no file of their own."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from ebbtide.errors import TranscriptError
from ebbtide.traces.agents.opencode_storage import head_of_file, message_folder, message_lines
from ebbtide.traces.agents.session_database import GROWING, StoredLine, state_of_files
from ebbtide.traces.agents.session_storage import layout_of
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.input.source import is_session_file
from ebbtide.traces.records.fields import mapping, seconds

_PARTS_S: Final = 0.5  # after which no more parts of a person's words come


def stored_tail(path: str | os.PathLike[str]) -> StoredTail:
    """Returns the tail of a session in a database, or in many files.

    Raises:
        TranscriptError: It cannot be read.
    """
    return FolderTail(Path(path)) if is_session_file(path) else DatabaseTail(Path(path))


class StoredTail:
    """Tail of a session: each line when it is ripe, an answer with all of its calls.

    Attributes:
        is_waiting: True if something is there that was not given out yet, and will be without a change.
    """

    def __init__(self) -> None:
        self.is_waiting = False
        self._given: set[int] = set()  # a key may hold a whole text
        self._looked_at: object = None

    def look(self) -> bytes:
        """Lines that are new; none where nothing is.

        Raises:
            TranscriptError: It cannot be read any more.
        """
        state = self._state()
        if state is not None and state == self._looked_at:
            return b""
        content: list[bytes] = []
        keys: list[int] = []
        has_more = self.is_waiting = False
        for line in self._lines():
            key = hash(line.key)
            if key in self._given or line.ripe_at == GROWING:
                continue
            if line.ripe_at > time.time():
                self.is_waiting = True
                break
            keys.append(key)
            content += line.content()
            has_more = has_more or not line.is_head
        self._looked_at = None if self.is_waiting else state
        if not has_more:
            return b""
        self._given.update(keys)
        return b"".join(content)

    def _state(self) -> object:
        """A value that changes with every change of the session; None where nothing does."""
        raise NotImplementedError

    def _lines(self) -> Iterator[StoredLine]:
        """Yields the lines, at least those that were not given out."""
        raise NotImplementedError


class DatabaseTail(StoredTail):
    """Tail of a session in a database. A head that states another sum comes again.

    Args:
        path: The session.

    Raises:
        TranscriptError: It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._layout = layout_of(path.parent)
        self._layout.session(path)

    def _state(self) -> object:
        return state_of_files(self._path.parent)

    def _lines(self) -> Iterator[StoredLine]:
        return self._layout.lines_of(self._path)


class FolderTail(StoredTail):
    """Tail of a session that OpenCode 1.0 writes: a file for each message and for each part of one.

    A message is read once when it is complete. What a look costs besides is the list of the names.

    Args:
        path: As for `is_session_file`.

    Raises:
        TranscriptError: It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._head = head_of_file(path)
        self._folder = message_folder(path)
        self._states: dict[str, object] = {}  # of the files of messages that were not complete

    def _state(self) -> object:
        return None

    def _lines(self) -> Iterator[StoredLine]:
        """Yields the messages by the end of each: whoever reads the session anew gets the same order."""
        yield self._head
        names = self._names()
        last = max(names, default="")
        waiting = [
            (at, name, ripe_at)
            for name in names
            if hash(name) not in self._given
            for at, ripe_at in self._ended(self._folder / name, is_last=name == last)
        ]
        for _, name, ripe_at in sorted(waiting):
            content = partial(message_lines, self._folder / name)
            yield StoredLine(key=name, content=content, ripe_at=ripe_at)

    def _names(self) -> list[str]:
        try:
            names = os.listdir(self._folder)  # noqa: PTH208 - a Path of each of many files takes long
        except OSError:  # there is no message yet
            return []
        return [name for name in names if name.endswith(".json")]

    def _ended(self, file: Path, *, is_last: bool) -> list[tuple[float, float]]:
        """Returns the end of a complete message, and when all of its parts are there; else nothing."""
        try:
            status = file.stat()
            state = (status.st_size, status.st_mtime_ns)
            if self._states.get(file.name) == state:
                return []
            head = mapping(json_value(file.read_bytes()))
        except (OSError, TranscriptError, UnicodeDecodeError, RecursionError):
            return []  # it is being written, or gone
        is_question = head.get("role") == "user"
        at = seconds(mapping(head.get("time")).get("created" if is_question else "completed"))
        if at is None:
            self._states[file.name] = state
            return []
        return [(at, status.st_mtime + _PARTS_S if is_question and is_last else 0.0)]
