"""Sessions of Hermes in its database, ``state.db``.

Taken from ``hermes_state_common.py`` in https://github.com/NousResearch/hermes-agent: the tables of schema
30. Older versions have fewer columns. The input counts nothing of the cache.

A message that a compaction keeps is written again, and is the same record. What was taken back stays: it was
said, and paid for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ebbtide.traces.agents.session_database import (
    DatabaseLayout,
    Row,
    StoredLine,
    StoredSession,
    columns_of,
    rows_of,
)
from ebbtide.traces.input.other_databases import HERMES
from ebbtide.traces.records.fields import count, dollars, from_json, identifier, mapping, seconds, text

_JSON: Final = "\0json:"  # before content that is no plain text
_SAID: Final = ("role", "content", "timestamp", "tool_call_id", "tool_calls", "tool_name")
_COUNTS: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_BILLED: Final = (*_COUNTS, "reasoning_tokens", "actual_cost_usd")


def _sessions(database: sqlite3.Connection, path: Path, name: str | None) -> list[StoredSession]:
    """Returns the sessions: all of them, or the one of a name."""
    ended = {}
    if "end_reason" in columns_of(database, "sessions"):
        ended = dict(database.execute("SELECT id, end_reason FROM sessions"))
    query = "SELECT session_id, MAX(timestamp) FROM messages WHERE ? IS NULL OR session_id = ? GROUP BY 1"
    latest = dict(database.execute(query, (name, name)))
    sessions = []
    for row in rows_of(database, "SELECT * FROM sessions WHERE ? IS NULL OR id = ?", name, name):
        times = (row.get("ended_at"), row.get("last_activity_at"), latest.get(row["id"]), row["started_at"])
        role = _role(row, ended)
        sessions.append(
            StoredSession(
                id=str(row["id"]),
                path=str(path / str(row["id"])),
                parent=identifier(row.get("parent_session_id")) if role else None,
                directory=_folder(row),
                modified=max((ts for at in times if (ts := seconds(at)) is not None), default=0.0),
                role=role or "session",
            )
        )
    return [session for session in sessions if session.id]


def _role(row: Row, ended: Mapping[object, object]) -> str:
    """Returns the place of a session beside its parent; empty without one, and after a reset."""
    parent = row.get("parent_session_id")
    marks = mapping(from_json(row.get("model_config")))
    if parent is None or marks.get("_reset_from") == parent:
        return ""
    if marks.get("_branched_from") == parent or ended.get(parent) == "branched":
        return "fork"
    return "child session" if ended.get(parent) == "compression" else "sub-agent"


def _folder(row: Row) -> str | None:
    return text(row.get("cwd")) or text(mapping(from_json(row.get("model_config"))).get("cwd"))


def _lines(database: sqlite3.Connection, name: str) -> Iterator[StoredLine]:
    """Yields the head, with what each model took, then the messages as they were written."""
    for row in rows_of(database, "SELECT * FROM sessions WHERE id = ?", name):
        head = {
            "role": "session_meta",
            "model": row.get("model"),
            "title": row.get("title"),
            "cwd": _folder(row),
            "spent": _spent(database, row),
        }
        yield StoredLine.of(("head", str(head)), head)
    for row in rows_of(database, "SELECT * FROM messages WHERE session_id = ? ORDER BY id", name):
        key = tuple(row.get(column) for column in _SAID)
        yield StoredLine.of(key, _message(row))


def _message(row: Row) -> dict[str, Any]:
    content = row["content"]
    if isinstance(content, str) and content.startswith(_JSON):
        content = from_json(content.removeprefix(_JSON))
    record = {"role": row["role"], "content": content, "timestamp": row["timestamp"]}
    if row.get("_compressed_summary"):
        return {**record, "role": "compaction"}
    if row.get("display_kind") == "hidden" and row["role"] == "user":
        return {**record, "role": "note"}
    more = {"tool_call_id": row.get("tool_call_id"), "name": row.get("tool_name")}
    calls = from_json(row.get("tool_calls"))
    return {**record, **{key: value for key, value in more.items() if value}, "tool_calls": calls or None}


def _spent(database: sqlite3.Connection, row: Row) -> list[dict[str, Any]]:
    """Returns what each model took: the larger of the two accounts, since the older one lacks side tasks."""
    whole = _bill(row)
    parts = []
    if columns_of(database, "session_model_usage"):
        query = "SELECT * FROM session_model_usage WHERE session_id = ?"
        parts = [_bill(part) for part in rows_of(database, query, row["id"])]
    return parts if sum(map(_tokens, parts)) >= _tokens(whole) else [whole]


def _bill(row: Row) -> dict[str, Any]:
    # A count of 0 stands for what was never counted, too; a price that Hermes guessed is not what was paid.
    known = {key: row[key] for key in _BILLED if dollars(row.get(key))}
    if known and not known.keys().isdisjoint(_COUNTS):
        known = {**dict.fromkeys(_COUNTS, 0), **known}
    return {"model": row.get("model"), **known}


def _tokens(bill: Row) -> int:
    return sum(count(bill.get(key)) or 0 for key in _COUNTS)


HERMES_LAYOUT: Final = DatabaseLayout(
    kind=HERMES,
    newest=30,
    needed={
        "sessions": frozenset({"id", "started_at"}),
        "messages": frozenset({"id", "session_id", "role", "content", "timestamp"}),
    },
    sessions=_sessions,
    lines=_lines,
)
