"""Connections to a database, whichever it is: one, and a pool of those that read."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

from ebbtide.errors import StoreError

_SPARE: Final = 8  # sessions that are kept for the next question

#: Values of a statement.
Values = Sequence[Any]
#: A question, and its values.
Question = tuple[str, Values]
#: A statement, and the values that it is run for.
Write = tuple[str, Sequence[Values]]


class Session(Protocol):
    """One connection. It is used by one thread at a time.

    Every method raises `ebbtide.errors.StoreError`, and nothing else, for what the database says.
    """

    #: Whether the connection is of no use any more.
    broken: bool
    #: Whether anything was done with it before, so that it may have gone stale in between.
    used: bool

    def begin(self, *, write: bool) -> None:
        """Begin a transaction: one that may write, or one that sees one state throughout."""

    def commit(self, writes: Sequence[Write] = ()) -> None:
        """Make the last changes and commit; what was written is acknowledged from here on."""

    def rollback(self) -> None:
        """Undo; never raises."""

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """All rows of a question."""

    def rows_of_each(self, questions: Sequence[Question]) -> list[list[tuple[Any, ...]]]:
        """All rows of each question, asked in this order."""

    def stream(self, sql: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a question that may have many, in the order of the question."""

    def run(self, sql: str, values: Values = ()) -> None:
        """Change something."""

    def run_many(self, sql: str, many: Sequence[Values]) -> None:
        """Change something for each of the values."""

    def check(self) -> None:
        """Have the database look whether it is damaged, as far as it can."""

    def close(self) -> None:
        """Close it; never raises."""


class SessionPool:
    """The readers of a database. It may be used from several threads.

    Args:
        name: What messages call the database.
    """

    def __init__(self, name: str, connect: Callable[[], Session]) -> None:
        self._name = name
        self._connect = connect
        self._spare: list[Session] = []
        self._lock = threading.Lock()
        self._closed = False
        self._process = os.getpid()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session in a transaction that sees one state throughout.

        Raises:
            StoreError: The database cannot be reached.
        """
        if os.getpid() != self._process:
            raise StoreError(f"{self._name}: opened before the process forked; open it again in the child")
        session = self._begun()
        try:
            yield session
        finally:
            session.rollback()
            with self._lock:
                keep = not (self._closed or session.broken) and len(self._spare) < _SPARE
                if keep:
                    self._spare.append(session)
            if not keep:
                session.close()

    def close(self) -> None:
        """Close those that wait; the others are closed by whoever uses them."""
        with self._lock:
            self._closed = True
            spare, self._spare = self._spare, []
        for session in spare:
            session.close()

    def _begun(self) -> Session:
        while True:
            with self._lock:
                if self._closed:
                    raise StoreError(f"{self._name}: it was closed; open it again")
                session = self._spare.pop() if self._spare else None
            stale = session is not None
            session = session or self._connect()
            try:
                session.begin(write=False)
            except StoreError:
                session.close()
                if not stale:
                    raise
            else:
                return session
