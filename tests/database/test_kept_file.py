"""A kept file of SQLite: whole transactions, also after a fork and in a signal handler, in its own files."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ebbtide.database.kept_file import KeptFile
from ebbtide.database.migrating import Schema
from ebbtide.errors import StoreError

Make = Callable[..., KeptFile]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    folder = tmp_path / "schema"
    folder.mkdir()
    (folder / "0001_notes.sql").write_text("CREATE TABLE notes (note TEXT);\n")
    schema = Schema(
        what="file of notes", folder=folder, tables=("notes",), version_table="notes_version", lock=1
    )

    def made(name: str | None = "notes.db", version_table: str = "notes_version", **how: bool) -> KeptFile:
        path = None if name is None else tmp_path / name
        return KeptFile(path, replace(schema, version_table=version_table), **how)

    return made


def put(file: KeptFile, *notes: str) -> None:
    with file.transaction() as database:
        database.executemany("INSERT INTO notes VALUES (?)", [(note,) for note in notes])


def change(file: KeptFile, *statements: str) -> None:
    with file.transaction() as database:
        for statement in statements:
            database.execute(statement)


def notes(file: KeptFile) -> list[str]:
    with file.transaction(write=False) as database:
        return [note for (note,) in database.execute("SELECT note FROM notes ORDER BY rowid")]


@pytest.mark.parametrize(("name", "stays_open"), [("notes.db", False), ("notes.db", True), (None, False)])
def test_a_transaction_is_whole_or_undone(make: Make, name: str | None, *, stays_open: bool) -> None:
    file = make(name, stays_open=stays_open)
    put(file, "a", "b")
    with pytest.raises(StoreError, match="no such table"):
        change(file, "INSERT INTO notes VALUES ('c')", "INSERT INTO other VALUES ('c')")
    with pytest.raises(StoreError, match="syntax error"):
        change(file, "DELETE FROM notes", "nonsense")
    assert notes(file) == ["a", "b"]


@pytest.mark.parametrize("stays_open", [False, True])
@pytest.mark.parametrize("write", [False, True])
def test_a_transaction_inside_another_is_kept(make: Make, *, stays_open: bool, write: bool) -> None:
    """As of a signal handler that comes in the middle; what was done before it is kept with it."""
    file = make(stays_open=stays_open)
    with file.transaction(write=write) as database:
        put(file, "inner")
        assert database.execute("SELECT count(*) FROM notes").fetchone() == (1,)
    assert notes(file) == ["inner"]


def test_what_is_open_only_in_between_can_be_deleted(make: Make, tmp_path: Path) -> None:
    file = make()
    put(file, "a")
    assert [path.name for path in tmp_path.glob("notes.db*")] == ["notes.db"]
    (tmp_path / "notes.db").unlink()
    assert notes(file) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_goes_on_with_a_connection_of_its_own(make: Make) -> None:
    file = make(stays_open=True)
    put(file, "parent")
    child = os.fork()
    if not child:
        put(file, "child")
        file.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    put(file, "again")
    assert notes(file) == ["parent", "child", "again"]


def test_a_file_of_something_else_is_left_alone(make: Make, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "notes.db")) as database, database:
        database.execute("CREATE TABLE t (x)")
    before = (tmp_path / "notes.db").read_bytes()
    with pytest.raises(StoreError, match="not a file of notes of this version"):
        make()
    assert (tmp_path / "notes.db").read_bytes() == before
    put(make("own.db"), "a")
    with pytest.raises(StoreError, match="not a file of notes of this version"):
        make("own.db", "others_version")
