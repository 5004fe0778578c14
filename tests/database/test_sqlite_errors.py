"""A database whose bytes are damaged is refused in words, wherever it is read."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ebbtide import DecisionLog
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.table_rows import open_table
from ebbtide.errors import EbbtideError
from ebbtide.service.hooks.hook_store import latest_events
from ebbtide.traces.agents.session_storage import stored_sessions


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """One whose schema has a byte in a word that is no text, which SQLite quotes in its error."""
    path = tmp_path / "damaged.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE session (id)")
        database.commit()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE", b"CREA\x9aE TABLE"))
    return path


def table(path: Path) -> None:
    """Opens a table of a database."""
    with open_table([f"{path}#session"], RowMap(run="id", order="id")):
        pass


READERS = {"a log": DecisionLog.open, "sessions of OpenCode": stored_sessions, "a table": table}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
def test_damaged_words_are_refused(read: Callable[[Path], Any], damaged: Path) -> None:
    """The error quotes them with a mark for the byte."""
    with pytest.raises(EbbtideError, match=r'malformed database schema .* near "CREA\ufffdE'):
        read(damaged)


def test_a_damaged_file_of_sessions_tells_of_no_event(damaged: Path) -> None:
    """The hooks go on."""
    assert latest_events(damaged) == {}
