"""One open store: a writer that all threads share, and a reader for each that reads at the moment."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from ebbtide.database.place import sqlite_path
from ebbtide.database.session import Session, SessionPool
from ebbtide.decision_log.store.database import Database
from ebbtide.decision_log.store.group_commit import Writer
from ebbtide.decision_log.store.postgres import PostgresDatabase
from ebbtide.decision_log.store.sqlite import SqliteDatabase
from ebbtide.decision_log.store.transaction import OnSubject, Transaction
from ebbtide.errors import StoreError

_T = TypeVar("_T")


class Store:
    """A store that is open. All of it may be used from several threads.

    Args:
        where: A path, ``:memory:``, ``sqlite:///path`` or ``postgresql://...``.
        create: Whether one that is not there is made.
        read_only: Never write, not even the schema.
        timeout_s: How long to wait for another writer, in seconds.
        durable: Wait for the disk at every commit of a SQLite file.

    Raises:
        ConfigError: `where` names no store.
        StoreError: It cannot be opened.
    """

    def __init__(
        self,
        where: str | os.PathLike[str],
        *,
        create: bool = True,
        read_only: bool = False,
        timeout_s: float = 5.0,
        durable: bool = False,
    ) -> None:
        self.database: Database = database_of(
            where, timeout_s=timeout_s, read_only=read_only, durable=durable
        )
        self._reads_by_choice = read_only
        self.database.prepare(create=create)
        only = self.database.connect(write=True) if self.database.single else None
        self._writer = Writer(self.database, only)
        self._readers = SessionPool(self.name, partial(self.database.connect, write=False))

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.database.name

    def write(
        self,
        work: Callable[[Transaction], _T],
        *,
        order: tuple[str, ...] = (),
        subjects: Sequence[OnSubject] = (),
    ) -> _T:
        """Do some work in a write transaction; returns after the commit. See `Writer.write`."""
        if self._reads_by_choice:
            raise StoreError(f"{self.name}: opened with read_only=True; open it without to write")
        if self.database.read_only:
            raise StoreError(
                f"{self.name}: the file or its folder may not be written; change the rights, or copy it to "
                "another place. Nothing was recorded"
            )
        return self._writer.write(work, order=order, subjects=subjects)

    def read(self, question: Callable[[Session], _T]) -> _T:
        """Ask something; all statements of a question see one state."""
        if self.database.single:
            return self._writer.alone(question)
        with self._readers.session() as session:
            return question(session)

    def index_words(self) -> None:
        """Let the index of words have the latest decisions, before a search."""
        if not self.database.read_only and self.database.search_rest is not None:
            self._writer.alone(self.database.index_words)

    def erase(self) -> None:
        """Take what was erased out of the files as well, as far as that can be asked for."""
        self._writer.alone(self.database.erase)

    def close(self) -> None:
        """Close every connection; the store cannot be used any more."""
        self._readers.close()
        self._writer.close()


def database_of(
    where: str | os.PathLike[str], *, timeout_s: float, read_only: bool, durable: bool
) -> Database:
    """The database that `where` names.

    Args:
        where: A path, ``:memory:``, ``sqlite:///path`` or ``postgresql://...``.
        timeout_s: How long to wait for another writer, in seconds.
        read_only: Never write.
        durable: Wait for the disk at every commit, where that can be chosen.

    Raises:
        ConfigError: It names none.
        StoreError: psycopg is missing.
    """
    path = sqlite_path(where, "store")
    if path is None:
        return PostgresDatabase(os.fspath(where), timeout_s=timeout_s, read_only=read_only)
    return SqliteDatabase(path, timeout_s=timeout_s, read_only=read_only, durable=durable)
