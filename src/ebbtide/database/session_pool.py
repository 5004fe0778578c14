"""Sessions that read: one for each that reads at the moment, kept for the next question."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from ebbtide.database.session import Session
from ebbtide.errors import StoreError

_SPARE: Final = 8  # sessions that are kept for the next question


class SessionPool:
    """The readers of a database. It may be used from several threads.

    Args:
        name: What messages call the database.
        connect: Opens one more session.
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
