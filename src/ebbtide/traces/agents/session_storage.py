"""Sessions that stand in no file of their own: in a database of an agent, or in many files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from ebbtide.errors import TranscriptError
from ebbtide.traces.agents import opencode_storage
from ebbtide.traces.agents.goose_database import GOOSE_LAYOUT
from ebbtide.traces.agents.hermes_database import HERMES_LAYOUT
from ebbtide.traces.agents.message_database import DatabaseLayout, columns_of
from ebbtide.traces.agents.session_database import (
    StoredSession,
    is_database,
    is_in_database,
    open_database,
    statements_of,
)
from ebbtide.traces.input.source import is_session_file
from ebbtide.traces.input.other_databases import kind_of

_LAYOUTS: Final = {layout.kind: layout for layout in (GOOSE_LAYOUT, HERMES_LAYOUT)}


def layout_of(database: str | os.PathLike[str]) -> DatabaseLayout | None:
    """Returns the layout of a database with a row a message; None for any other.

    Raises:
        TranscriptError: It cannot be read.
    """
    with open_database(database) as connection:
        tables = [columns_of(connection, name) for name in ("sessions", "messages")]
        return _LAYOUTS.get(kind_of(statements_of(connection))) if all(tables) else None


def stored_sessions(path: str | os.PathLike[str]) -> list[StoredSession]:
    """Returns the sessions in a database; of OpenCode those that no other one began.

    Raises:
        TranscriptError: It is no database of an agent that is known, or cannot be read.
    """
    layout = layout_of(path)
    return opencode_storage.stored_sessions(path) if layout is None else layout.sessions(path)


def stored_session(path: str | os.PathLike[str]) -> StoredSession:
    """Returns the head of a session, in a database or in a file.

    Raises:
        TranscriptError: It cannot be read.
    """
    layout = layout_of(Path(path).parent) if is_in_database(path) else None
    return opencode_storage.stored_session(path) if layout is None else layout.session(path)


def stored_lines(path: str | os.PathLike[str]) -> Iterator[bytes] | None:
    """Returns a session as JSON lines, the first of which is its head; None where a path names none.

    Args:
        path: A session in a database, or its file beside those of its messages; a database that holds one.

    Raises:
        TranscriptError: It cannot be read, or the database holds several, or none.
    """
    if is_session_file(path):
        return opencode_storage.session_lines(path)
    session = only_session(path) if is_database(path) else path
    if not is_in_database(session):
        return None
    layout = layout_of(Path(session).parent)
    if layout is None:
        return opencode_storage.session_lines(session)
    return (line.to_bytes() for line in layout.read(session))


def sessions_at(path: str | os.PathLike[str]) -> list[str]:
    """Returns the names of the sessions in a database; its path for anything else, or if it is unreadable."""
    if is_database(path):
        with suppress(TranscriptError):
            return sorted(session.path for session in stored_sessions(path)) or [os.fspath(path)]
    return [os.fspath(path)]


def only_session(path: str | os.PathLike[str]) -> str:
    """Returns the name of the only session in a database.

    Raises:
        TranscriptError: There are several, or none.
    """
    sessions = sorted(stored_sessions(path), key=lambda session: session.modified)
    if not sessions:
        raise TranscriptError("there is no session in this database", source=os.fspath(path), no_trace=True)
    if len(sessions) > 1:
        raise TranscriptError(
            f"there are {len(sessions):,} sessions in this database",
            source=os.fspath(path),
            hint=f"Name one of them; the latest is {sessions[-1].path}.",
        )
    return sessions[0].path
