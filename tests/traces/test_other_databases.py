"""Databases of agents whose storage is not read: whose it is, and the way to a session in it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ebbtide.errors import TranscriptError
from ebbtide.traces.reading import open_trace


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            "CREATE TABLE sessions (id); CREATE TABLE messages (content_json)",
            " of Goose.*goose session export",
        ),
        (
            "CREATE TABLE sessions (id); CREATE TABLE messages (tool_calls)",
            " of Hermes.*hermes sessions export",
        ),
        ("CREATE TABLE blobs (id, data); CREATE TABLE meta (key, value)", " of Cursor.*agent-transcripts"),
        ("CREATE TABLE ItemTable (key, value)", " of an editor.*agent-transcripts"),
        ("CREATE TABLE conversations_v2 (key, value)", " of Kiro CLI.*/chat save"),
        ("CREATE TABLE orders (id)", "not one of OpenCode. Export"),
    ],
)
def test_a_database_of_another_agent(tmp_path: Path, tables: str, message: str) -> None:
    """The message says whose it is, and how to get a session out of it; so does that on a dump of it."""
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(tables)
    with pytest.raises(TranscriptError, match=message) as caught:
        open_trace(path)
    assert caught.value.no_trace
    dump = tmp_path / "x.sql"
    dump.write_text(tables + ";\n")
    with pytest.raises(TranscriptError, match=f"SQL that makes a database.*{message}"):
        open_trace(dump)
