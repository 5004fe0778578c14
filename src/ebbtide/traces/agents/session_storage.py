"""Sessions that stand in no file of their own: in a database of an agent, or in many files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from ebbtide.errors import TranscriptError
from ebbtide.traces.agents.goose_database import GOOSE_LAYOUT
from ebbtide.traces.agents.hermes_database import HERMES_LAYOUT
from ebbtide.traces.agents.opencode_storage import OPENCODE_LAYOUT, lines_in_folders, session_in_file
from ebbtide.traces.agents.session_database import (
    DatabaseLayout,
    StoredSession,
    columns_of,
    is_database,
    is_in_database,
    open_database,
    statements_of,
)
from ebbtide.traces.input.other_databases import kind_of
from ebbtide.traces.input.source import is_session_file

_LAYOUTS: Final = {layout.kind: layout for layout in (GOOSE_LAYOUT, HERMES_LAYOUT)}


def layout_of(database: str | os.PathLike[str]) -> DatabaseLayout:
    """Returns the layout of a database; that of OpenCode where it is none with a row a message.

    Raises:
        TranscriptError: It cannot be read.
    """
    with open_database(database) as connection:
        tables = [columns_of(connection, name) for name in ("sessions", "messages")]
        kind = kind_of(statements_of(connection)) if all(tables) else None
    return _LAYOUTS.get(kind, OPENCODE_LAYOUT)


def stored_sessions(path: str | os.PathLike[str]) -> list[StoredSession]:
    """Returns the sessions in a database; of OpenCode those that no other one began.

    Raises:
        TranscriptError: It is no database of an agent that is known, or cannot be read.
    """
    return layout_of(path).sessions_in(Path(path))


def stored_session(path: str | os.PathLike[str]) -> StoredSession:
    """Returns the head of a session, in a database or in a file.

    Raises:
        TranscriptError: It cannot be read.
    """
    file = Path(path)
    return layout_of(file.parent).session(file) if is_in_database(file) else session_in_file(file)


def stored_lines(path: str | os.PathLike[str]) -> Iterator[bytes] | None:
    """Returns a session as JSON lines, the first of which is its head; None where a path names none.

    Args:
        path: A session in a database, or its file beside those of its messages; a database that holds one.

    Raises:
        TranscriptError: It cannot be read, or the database holds several, or none.
    """
    if is_session_file(path):
        return lines_in_folders(Path(path))
    session = Path(only_session(path) if is_database(path) else path)
    if not is_in_database(session):
        return None
    layout = layout_of(session.parent)
    layout.session(session)
    return (part for line in layout.lines_of(session) for part in line.content())


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
