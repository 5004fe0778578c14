"""Runs that are no file of their own: they stand in folders, or in a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def stored_run(path: Path) -> Iterator[bytes] | None:
    """The lines of such a run; None where the path is a file like any other.

    Args:
        path: A folder of OpenHands with one event a file; a session in the storage of OpenCode, or a
            database of OpenCode that holds one.

    Raises:
        TranscriptError: There are several in it, or none.
        OSError: It cannot be read.
    """
    if path.is_dir():
        from ebbtide.traces.agents.openhands_folder import conversation_lines, is_conversation

        return conversation_lines(path) if is_conversation(path) else None
    if ".db" not in (path.suffix, path.parent.suffix) and path.parent.parent.name != "session":
        return None
    from ebbtide.traces.agents.opencode_storage import is_database, is_stored, only_session, session_lines

    if is_database(path):
        return session_lines(only_session(path))
    return session_lines(path) if is_stored(path) else None
