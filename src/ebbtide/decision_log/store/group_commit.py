"""Writers that come at once share a transaction, and each returns only after the commit.

Whoever comes first leads: it does its own work and that of everybody who waits, and commits once. A commit is
what writing costs; shared by eight it costs an eighth. Those who were there the last time are waited for, as
long as that took: they come again as soon as they have their answers.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, cast

from ebbtide.database.session import Session
from ebbtide.decision_log.store.database import Database
from ebbtide.decision_log.store.transaction import OnSubject, Transaction
from ebbtide.decision_log.store.windows import Streams
from ebbtide.errors import StoreError

_T = TypeVar("_T")
_MOST = 128  # works of one transaction
_TRIES = 3
_LONGEST_S = 0.02  # that others are waited for
_NAP_S = 0.05  # whoever was to lead next may have been interrupted: after that time another one sees to it


class Writer:
    """The one writing connection of a process to a store.

    Args:
        database: What to write to.
        session: The session to use; None opens one when something is to be written.
    """

    def __init__(self, database: Database, session: Session | None = None) -> None:
        self._database = database
        self._session = session
        self._streams = Streams()
        self._waiting: deque[_Work[Any]] = deque()
        self._queue = threading.Condition(threading.Lock())
        self._leading = threading.Lock()
        self._process = os.getpid()
        self._closed = False
        self._committing = False
        self._crowd = 1  # works of the last transaction, and those that came while it went on
        self._patience_s = 0.0

    def write(
        self,
        work: Callable[[Transaction], _T],
        *,
        order: tuple[str, ...] = (),
        subjects: Sequence[OnSubject] = (),
    ) -> _T:
        """Do some work in a transaction; returns after the commit.

        Args:
            work: What to do. It may be done again after a roll-back, so it changes nothing but the store.
            order: Tenant and agent of the stream that is written to, where it is one. Works of one
                transaction are done in this order, which keeps processes from waiting for each other.
            subjects: What it will ask the index of subjects; all of a transaction are asked at once.

        Raises:
            StoreError: The database says no. Any error of `work` comes back as it is.
        """
        if os.getpid() != self._process:
            raise StoreError(
                f"{self._database.name}: opened before the process forked; open it again in the child"
            )
        mine = _Work(work, order, subjects)
        with self._queue:
            self._waiting.append(mine)
            self._queue.notify()
        # Whose work is done goes on at once, while somebody else leads already: it comes with the next batch.
        while not mine.is_done:
            if not self._leading.acquire(blocking=False):
                mine.wait()
                continue
            try:
                if not mine.is_done:
                    self._lead()
            finally:
                self._leave()
        if mine.error is not None:
            raise mine.error
        return cast("_T", mine.value)

    def alone(self, work: Callable[[Session], _T]) -> _T:
        """Do something with the writing connection that is no transaction, or reads what only it sees."""
        with self._led():
            return work(self._open())

    def close(self) -> None:
        """Close the connection."""
        with self._led():
            self._closed = True
            if self._session is not None:
                self._session.close()
                self._session = None

    @contextlib.contextmanager
    def _led(self) -> Iterator[None]:
        self._leading.acquire()
        try:
            yield
        finally:
            self._leave()

    def _leave(self) -> None:
        self._leading.release()
        with self._queue:
            following = self._waiting[0] if self._waiting else None
        if following is not None:
            following.wake()

    def _lead(self) -> None:
        with self._queue:
            if len(self._waiting) < self._crowd:
                self._queue.wait_for(lambda: len(self._waiting) >= self._crowd, self._patience_s)
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST))]
        start = time.perf_counter()
        batch.sort(key=lambda each: each.order)  # stable: what one thread asked first is done first
        try:
            self._together(batch)
        except BaseException:
            undone = [each for each in batch if not each.is_done]
            if self._committing:
                for each in undone:
                    each.fail(
                        StoreError(f"{self._database.name}: interrupted during a commit", recorded=None)
                    )
            else:
                # Interrupted. Nothing of the others is lost: the next one to lead does it.
                with self._queue:
                    self._waiting.extendleft(reversed(undone))
            raise
        finally:
            self._committing = False
            with self._queue:
                self._crowd = min(len(batch) + len(self._waiting), _MOST)
            self._patience_s = min(time.perf_counter() - start, _LONGEST_S)

    def _together(self, batch: list[_Work[Any]]) -> None:
        try:
            values = self._transaction(batch)
        except Exception as error:  # noqa: BLE001 - it goes to the caller of the work
            if len(batch) == 1:
                batch[0].fail(error)
            elif isinstance(error, StoreError) and error.recorded is None:
                for each in batch:
                    each.fail(StoreError(str(error), recorded=None))
            else:
                # One of them spoilt it for all: each has a transaction of its own.
                for each in batch:
                    self._together([each])
            return
        for each, value in zip(batch, values, strict=True):
            each.succeed(value)

    def _transaction(self, batch: list[_Work[Any]]) -> list[Any]:
        for again in range(_TRIES):
            session = self._open()
            fresh, session.used = not session.used, True
            self._committing = False
            try:
                session.begin(write=True)
                transaction = Transaction(session, self._database, self._streams)
                transaction.ask_first(
                    [each.order for each in batch], [subject for each in batch for subject in each.subjects]
                )
                values = [each.work(transaction) for each in batch]
                writes = transaction.take_writes()
                self._committing = True
                session.commit(writes)
            except StoreError as error:
                committing, self._committing = self._committing, False
                session.rollback()
                # A connection that went stale since it was used last: the work was not done, do it anew.
                if session.broken and not fresh and not committing and again + 1 < _TRIES:
                    continue
                if "deadlock" in str(error) and again + 1 < _TRIES:
                    continue
                raise
            except BaseException:
                if not self._committing:
                    session.rollback()
                raise
            else:
                transaction.keep_streams()
                return values
        raise AssertionError("unreachable: the last try returns or raises")

    def _open(self) -> Session:
        if self._closed:
            raise StoreError(f"{self._database.name}: it was closed; open it again")
        session = self._session
        if session is not None and session.broken and not self._database.single:
            session.close()
            session = None
        if session is None:
            session = self._session = self._database.connect(write=True)
        return session


class _Work(Generic[_T]):
    __slots__ = ("_asleep", "error", "is_done", "order", "subjects", "value", "work")

    def __init__(
        self, work: Callable[[Transaction], _T], order: tuple[str, ...], subjects: Sequence[OnSubject]
    ) -> None:
        self.work = work
        self.order = order
        self.subjects = subjects
        self.is_done = False
        self.value: _T | None = None
        self.error: Exception | None = None
        self._asleep = threading.Lock()
        self._asleep.acquire()

    def wait(self) -> None:
        """Until it is done, or nobody leads."""
        self._asleep.acquire(timeout=_NAP_S)

    def wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is awake
            self._asleep.release()

    def succeed(self, value: _T) -> None:
        self.value, self.is_done = value, True
        self.wake()

    def fail(self, error: Exception) -> None:
        self.error, self.is_done = error, True
        self.wake()
