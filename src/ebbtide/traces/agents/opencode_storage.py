"""Storage of OpenCode's sessions: 1.18 in a database, 1.0 in folders of JSON files.

A session in the database is named like a file in it: ``opencode.db/ses_1a2b``.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ebbtide.errors import TranscriptError
from ebbtide.regular_file import refuse_special
from ebbtide.traces.agents.session_database import StoredSession, is_in_database, open_database
from ebbtide.traces.input.json_value import json_value
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


def stored_sessions(path: str | os.PathLike[str]) -> list[StoredSession]:
    """The sessions in a database that no other one began.

    Raises:
        TranscriptError: It is no database of OpenCode, or cannot be read.
    """
    with open_database(path) as database:
        rows = database.execute("SELECT id, parent_id, directory, time_updated FROM session").fetchall()
    names = {row[0] for row in rows}
    return [
        StoredSession(
            id=str(name),
            path=str(Path(path, str(name))),
            parent=None,
            directory=text(directory),
            modified=seconds(updated) or 0.0,
        )
        for name, parent, directory, updated in rows
        if parent not in names and name
    ]


def stored_session(path: str | os.PathLike[str]) -> StoredSession:
    """Returns the head of a session, in a database or in a file.

    Raises:
        TranscriptError: It cannot be read.
    """
    file = Path(path)
    if is_in_database(file):
        with open_database(file.parent) as database:
            query = "SELECT parent_id, directory, time_updated FROM session WHERE id = ?"
            row = database.execute(query, (file.name,)).fetchone()
        if row is None:
            raise TranscriptError("no such session in this database", source=os.fspath(path))
        head = {"id": file.name, "parentID": row[0], "directory": row[1], "time": {"updated": row[2]}}
    else:
        whole = mapping(json_value(_text_of(file)))
        head = dict(mapping(whole.get("info")) or whole)  # an export has it beside the messages
    return StoredSession(
        id=identifier(head.get("id")) or file.stem,
        path=os.fspath(path),
        parent=identifier(head.get("parentID")),
        directory=text(head.get("directory")),
        modified=seconds(mapping(head.get("time")).get("updated")) or 0.0,
    )


def session_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """A session as JSON lines: what it is, then its messages with their parts.

    Those of its sub-sessions stand between them where it is in a database; in folders these are sessions of
    their own. What is no JSON comes as a line of its own.

    Args:
        path: As for `is_in_database` or `is_session_file`.

    Raises:
        TranscriptError: It cannot be read.
    """
    yield session_head(path)
    yield from _database_lines(Path(path)) if is_in_database(path) else _folder_lines(Path(path))


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
    broken = [part for part in parts if not _is_json(part)]
    yield from map(_flat, broken)
    whole = ",".join(part for part in parts if part not in broken)
    yield _flat(f'{{"info": {info}, "parts": [{whole}]}}')


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """A message in a database.

    Args:
        name: Its id.
        session: Its session.
        data: What it states, as JSON.
        is_valid: Whether that is JSON.
        is_complete: Whether it is an answer that is over.
        is_question: Whether it is what a person said.
    """

    name: str
    session: str
    data: str
    is_valid: bool
    is_complete: bool
    is_question: bool

    def parts(self, database: sqlite3.Connection) -> list[tuple[str, int]]:
        """Its parts as JSON, each with whether it is valid."""
        return database.execute(_PARTS, (self.name,)).fetchall()


def database_rows(database: sqlite3.Connection, session: str) -> Iterator[MessageRow]:
    """The messages of a session and of its sub-sessions, by the end of each."""
    for name, owner, data, is_valid, ended, role in database.execute(_MESSAGES, (session,)):
        yield MessageRow(
            name=name,
            session=owner,
            data=data,
            is_valid=bool(is_valid),
            is_complete=ended is not None,
            is_question=role == "user",
        )


def row_lines(row: MessageRow, parts: list[tuple[str, int]]) -> Iterator[bytes]:
    """A message with its parts as a line; before it what is no JSON."""
    yield from (_flat(part) for part, is_valid in parts if not is_valid)
    if not row.is_valid:
        yield _flat(row.data)
        return
    marks = json.dumps({"id": row.name, "sessionID": row.session})[:-1]
    whole = ",".join(part for part, is_valid in parts if is_valid)
    rest = row.data.strip()[1:]
    comma = "" if rest.lstrip().startswith("}") else ", "
    yield _flat(f'{{"info": {marks}{comma}{rest}, "parts": [{whole}]}}')


def session_head(path: str | os.PathLike[str]) -> bytes:
    """The first of the lines of a session: what it is.

    Raises:
        TranscriptError: It cannot be read.
    """
    session = stored_session(path)
    return _flat(json.dumps({"info": {"id": session.id, "directory": session.directory or ""}}))


def _database_lines(path: Path) -> Iterator[bytes]:
    with open_database(path.parent) as database:
        for row in database_rows(database, path.name):
            yield from row_lines(row, row.parts(database))


def _folder_lines(path: Path) -> Iterator[bytes]:
    for message in _files(message_folder(path)):
        yield from message_lines(message)


def _files(folder: Path) -> list[Path]:
    """Files of JSON by their names, which are in the order of time."""
    with readable(folder):
        return sorted(folder.glob("*.json")) if folder.is_dir() else []


def _text_of(file: Path) -> str:
    with readable(file):
        refuse_special(file)
        return file.read_bytes().decode(errors="replace")


def _is_json(words: str) -> bool:
    try:
        json_value(words)
    except (TranscriptError, RecursionError):
        return False
    return True


def _flat(words: str) -> bytes:
    # Line ends stand only between the parts of JSON, never in its texts.
    return words.encode(errors="replace").replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
