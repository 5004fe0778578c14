"""Storage of OpenCode's sessions: 1.18 in a database, 1.0 in folders of JSON files.

A session in the database is named like a file in it: ``opencode.db/ses_1a2b``.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from ebbtide.regular_file import refuse_special
from ebbtide.traces.agents.session_database import GROWING, DatabaseLayout, StoredLine, StoredSession
from ebbtide.traces.input.json_value import json_value, value_or_none
from ebbtide.traces.input.source import readable
from ebbtide.traces.records.fields import identifier, mapping, seconds, text

# By the end of each, so that a sub-session comes before the answer of the call that began it.
_MESSAGES = """
WITH RECURSIVE tree(id) AS (
    SELECT ? UNION SELECT session.id FROM session JOIN tree ON session.parent_id = tree.id
)
SELECT
    id, session_id, data, json_valid(data),
    CASE WHEN json_valid(data) THEN json_extract(data, '$.time.completed') END AS ended,
    CASE WHEN json_valid(data) THEN json_extract(data, '$.role') END
FROM message WHERE session_id IN tree ORDER BY COALESCE(ended, time_created), id
"""
_PARTS = "SELECT data, json_valid(data) FROM part WHERE message_id = ? ORDER BY id"


def session_in_file(path: Path) -> StoredSession:
    """Returns the head of a session in a file: an export has it beside the messages.

    Raises:
        TranscriptError: It cannot be read.
    """
    whole = mapping(json_value(_text_of(path)))
    head = mapping(whole.get("info")) or whole
    return StoredSession(
        id=identifier(head.get("id")) or path.stem,
        path=os.fspath(path),
        parent=identifier(head.get("parentID")),
        directory=text(head.get("directory")),
        modified=seconds(mapping(head.get("time")).get("updated")) or 0.0,
    )


def head_of_file(path: Path) -> StoredLine:
    """The first of the lines of a session in folders: what it is.

    Raises:
        TranscriptError: It cannot be read.
    """
    session = session_in_file(path)
    return _head(session.id, session.directory)


def lines_in_folders(path: Path) -> Iterator[bytes]:
    """A session in folders as JSON lines: what it is, then its messages with their parts.

    Its sub-sessions are sessions of their own. What is no JSON comes as a line of its own.

    Args:
        path: As for `is_session_file`.

    Raises:
        TranscriptError: It cannot be read.
    """
    yield from head_of_file(path).content()
    for message in _files(message_folder(path)):
        yield from message_lines(message)


def message_folder(path: str | os.PathLike[str]) -> Path:
    """The folder with a file for each message of a session; the order of their names is that of time.

    Args:
        path: As for `is_session_file`.
    """
    file = Path(path)
    return file.parents[2] / "message" / file.stem


def message_lines(file: Path) -> Iterator[bytes]:
    """A message in folders with its parts as a line; before it what is no JSON.

    Args:
        file: One in a `message_folder`.

    Raises:
        TranscriptError: It cannot be read.
    """
    info = _text_of(file)
    parts = [_text_of(part) for part in _files(file.parents[2] / "part" / file.stem)]
    broken = [part for part in parts if value_or_none(part) is None]
    yield from map(_flat, broken)
    whole = ",".join(part for part in parts if part not in broken)
    yield _flat(f'{{"info": {info}, "parts": [{whole}]}}')


def _sessions(database: sqlite3.Connection, path: Path, name: str | None) -> list[StoredSession]:
    """Returns the sessions that no other one began, or the one of a name."""
    query = "SELECT id, parent_id, directory, time_updated FROM session WHERE ? IS NULL OR id = ?"
    rows = database.execute(query, (name, name)).fetchall()
    names = {row[0] for row in rows}
    return [
        StoredSession(
            id=str(number),
            path=str(path / str(number)),
            parent=identifier(parent),
            directory=text(directory),
            modified=seconds(updated) or 0.0,
        )
        for number, parent, directory, updated in rows
        if parent not in names and number
    ]


def _lines(database: sqlite3.Connection, session: str) -> Iterator[StoredLine]:
    """Yields the head, then the messages with their parts, also those of sub-sessions, by the end of each.

    A message is ripe when it is an answer that is over, or words of a person that have parts.
    """
    for (directory,) in database.execute("SELECT directory FROM session WHERE id = ?", (session,)):
        yield _head(session, text(directory))
    for row in database.execute(_MESSAGES, (session,)):
        name, _, _, _, ended, role = row
        has_ended = ended is not None or (role == "user" and bool(_parts(database, name)))
        yield StoredLine(
            key=name, content=partial(_message, database, row), ripe_at=0.0 if has_ended else GROWING
        )


def _parts(database: sqlite3.Connection, message: str) -> list[tuple[str, int]]:
    """The parts of a message as JSON, each with whether it is valid."""
    return database.execute(_PARTS, (message,)).fetchall()


def _message(database: sqlite3.Connection, row: tuple[Any, ...]) -> Iterator[bytes]:
    """A message with its parts as a line; before it what is no JSON."""
    name, session, data, is_valid, *_ = row
    parts = _parts(database, name)
    yield from (_flat(part) for part, is_whole in parts if not is_whole)
    if not is_valid:
        yield _flat(data)
        return
    marks = json.dumps({"id": name, "sessionID": session})[:-1]
    whole = ",".join(part for part, is_whole in parts if is_whole)
    rest = data.strip()[1:]
    comma = "" if rest.lstrip().startswith("}") else ", "
    yield _flat(f'{{"info": {marks}{comma}{rest}, "parts": [{whole}]}}')


OPENCODE_LAYOUT: Final = DatabaseLayout(sessions=_sessions, lines=_lines)


def _head(session: str, directory: str | None) -> StoredLine:
    line = _flat(json.dumps({"info": {"id": session, "directory": directory or ""}}))
    return StoredLine(key="head", content=lambda: (line,), is_head=True)


def _files(folder: Path) -> list[Path]:
    """Files of JSON by their names, which are in the order of time."""
    with readable(folder):
        return sorted(folder.glob("*.json")) if folder.is_dir() else []


def _text_of(file: Path) -> str:
    with readable(file):
        refuse_special(file)
        return file.read_bytes().decode(errors="replace")


def _flat(words: str) -> bytes:
    # Line ends stand only between the parts of JSON, never in its texts.
    return words.encode(errors="replace").replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
