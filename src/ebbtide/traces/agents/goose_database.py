"""Sessions of Goose in its database, ``sessions.db``.

Taken from ``crates/goose/src/session/session_manager.rs`` in https://github.com/block/goose: the tables of
schema 17 and the changes that led to them. Since schema 15 a ledger has a row for each call of a model, and a
session names its parent. The input counts what came from the cache, too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ebbtide.traces.agents.session_database import (
    DatabaseLayout,
    StoredLine,
    StoredSession,
    columns_of,
    rows_of,
)
from ebbtide.traces.input.other_databases import GOOSE
from ebbtide.traces.records.fields import from_json, identifier, seconds, text

_WRITTEN_S: Final = 2.0  # after a call of a model, in which its message is written
_HEAD: Final = (
    *("working_dir", "name", "description", "accumulated_input_tokens", "accumulated_output_tokens"),
    *("accumulated_cache_read_tokens", "accumulated_cache_write_tokens", "accumulated_cost"),
)


def _sessions(database: sqlite3.Connection, path: Path, name: str | None) -> list[StoredSession]:
    """Returns the sessions: all of them, or the one of a name."""
    query = "SELECT * FROM sessions WHERE ? IS NULL OR id = ?"
    return [
        StoredSession(
            id=str(row["id"]),
            path=str(path / str(row["id"])),
            parent=identifier(row.get("parent_session_id")),
            directory=text(row["working_dir"]),
            modified=seconds(row["updated_at"]) or 0.0,
            role="sub-agent" if row.get("session_type") == "sub_agent" else "child session",
        )
        for row in rows_of(database, query, name, name)
        if row["id"]
    ]


def _lines(database: sqlite3.Connection, name: str) -> Iterator[StoredLine]:
    """Yields the head, then messages and calls of models in the order of time."""
    for row in rows_of(database, "SELECT * FROM sessions WHERE id = ?", name):
        head = {key: row.get(key) for key in _HEAD}
        head |= {"message_count": 0, "model_config": from_json(row.get("model_config_json"))}
        yield StoredLine.of(("head", str(head)), head)
    lines: list[tuple[float, int, StoredLine]] = []
    query = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
    for row in rows_of(database, query, name):
        record = {
            "role": row["role"],
            "created": row["created_timestamp"],
            "content": from_json(row["content_json"]),
            "metadata": from_json(row.get("metadata_json")),
        }
        key = ("message", row.get("message_id") or row["id"])
        lines.append((seconds(record["created"]) or 0.0, 0, StoredLine.of(key, record)))
    if columns_of(database, "usage_ledger"):
        for row in rows_of(database, "SELECT * FROM usage_ledger WHERE session_id = ? ORDER BY id", name):
            at = seconds(row["created_timestamp"]) or 0.0
            line = StoredLine.of(("call", row["id"]), {"usage_ledger": row}, at + 1.0 + _WRITTEN_S)
            lines.append((at, 1, line))
    yield from (line for _, _, line in sorted(lines, key=lambda item: item[:2]))


GOOSE_LAYOUT: Final = DatabaseLayout(
    kind=GOOSE,
    newest=17,
    needed={
        "sessions": frozenset({"id", "working_dir", "updated_at"}),
        "messages": frozenset({"id", "session_id", "role", "content_json", "created_timestamp"}),
    },
    sessions=_sessions,
    lines=_lines,
)
