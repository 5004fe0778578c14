"""Tails of sessions that stand in no file of their own."""

from __future__ import annotations

import os
from pathlib import Path

from ebbtide.traces.agents.message_database import RowTail
from ebbtide.traces.agents.opencode import SessionTail
from ebbtide.traces.agents.opencode_folder_tail import FolderTail
from ebbtide.traces.agents.session_storage import layout_of
from ebbtide.traces.input.source import is_session_file

StoredTail = SessionTail | FolderTail | RowTail


def stored_tail(path: str | os.PathLike[str]) -> StoredTail:
    """Returns the tail of a session in a database, or in many files.

    Raises:
        TranscriptError: It cannot be read.
    """
    if is_session_file(path):
        return FolderTail(path)
    layout = layout_of(Path(path).parent)
    return SessionTail(path) if layout is None else RowTail(path, layout)
