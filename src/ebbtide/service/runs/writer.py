"""One thread that writes: what several callers hand over meanwhile is one transaction.

A caller gets a future that is done when its part is on disk. Nobody else writes to the file.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from ebbtide.errors import StoreError
from ebbtide.service.runs.schema import prepare

_T = TypeVar("_T")

_MOST_BYTES: Final = 64 << 20  # that wait to be written
_MOST_TOGETHER: Final = 500  # jobs of one transaction
_PATIENCE_S: Final = 0.1  # of a job for which nobody waits: a transaction takes milliseconds
_BUSY_S: Final = 5.0  # for another process that holds the file


class QueueFullError(StoreError):
    """More waits to be written than the service keeps: come again in a moment."""


class _Job(NamedTuple):
    run: Callable[[sqlite3.Connection], Any]
    future: Future[Any]
    size: int


class DatabaseWriter:
    """Writes to one file of SQLite, in a thread of its own.

    Args:
        path: The file; it is made where there is none.

    Raises:
        StoreError: It cannot be opened, or is something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._jobs: deque[_Job] = deque()
        self._bytes = 0
        self._wake = threading.Condition()
        self._is_over = False
        self._is_urgent = False  # somebody waits for one of the jobs
        self._database: sqlite3.Connection | None = self._open()
        self._file = path.stat().st_ino
        self._thread = threading.Thread(target=self._write_all, name="ebbtide-writer", daemon=True)
        self._thread.start()

    def submit(
        self, run: Callable[[sqlite3.Connection], _T], *, size: int = 0, can_wait: bool = False
    ) -> Future[_T]:
        """Have something written; its result is there when it is on disk.

        Args:
            run: Called in the thread of the writer, inside a transaction. It may be called twice, where the
                transaction failed: it changes nothing but the database.
            size: Bytes that it holds in memory.
            can_wait: Whether nobody waits for it: it goes with what comes next, or alone a little later.

        Raises:
            QueueFullError: Too much is waiting.
            StoreError: The writer has ended.
        """
        future: Future[_T] = Future()
        with self._wake:
            if self._is_over:
                raise StoreError(f"{self._path}: the service is ending. Send it again in a moment")
            if self._bytes and self._bytes + size > _MOST_BYTES:
                raise QueueFullError(f"{self._path}: too much waits to be written. Send it again in a moment")
            self._bytes += size
            self._jobs.append(_Job(run, future, size))
            self._is_urgent = self._is_urgent or not can_wait
            self._wake.notify()
        return future

    def write(self, run: Callable[[sqlite3.Connection], _T]) -> _T:
        """As `submit`, and wait for it.

        Raises:
            StoreError: It cannot be written.
        """
        return self.submit(run).result()

    def waiting(self) -> tuple[int, int]:
        """Jobs that wait to be written, and the bytes that they hold."""
        with self._wake:
            return len(self._jobs), self._bytes

    def close(self) -> None:
        """Write what waits, and end."""
        with self._wake:
            self._is_over = True
            self._wake.notify()
        self._thread.join()

    def _write_all(self) -> None:
        while True:
            with self._wake:
                while not self._jobs and not self._is_over:
                    self._wake.wait()
                self._wake.wait_for(lambda: self._is_urgent or self._is_over, _PATIENCE_S)
                jobs = [self._jobs.popleft() for _ in range(min(len(self._jobs), _MOST_TOGETHER))]
                self._is_urgent = bool(self._jobs)
            if not jobs:
                break
            self._write(jobs)
            with self._wake:
                self._bytes -= sum(job.size for job in jobs)
        if self._database is not None:
            self._database.close()

    def _write(self, jobs: list[_Job]) -> None:
        """Write some jobs together, or one by one where that fails: one of them may be at fault."""
        try:
            results = self._commit(jobs)
        except Exception as error:  # noqa: BLE001 - told to whoever waits
            if len(jobs) > 1:
                for job in jobs:
                    self._write([job])
                return
            jobs[0].future.set_exception(
                error if isinstance(error, StoreError) else StoreError(f"{self._path}: {error}")
            )
            return
        for job, result in zip(jobs, results, strict=True):
            job.future.set_result(result)

    def _commit(self, jobs: list[_Job]) -> list[Any]:
        database = self._connected()
        try:
            database.execute("BEGIN IMMEDIATE")
            results = [job.run(database) for job in jobs]
            database.execute("COMMIT")
        except BaseException:
            try:
                database.execute("ROLLBACK")
            except sqlite3.Error:  # there is none open, or the connection is of no use any more
                database.close()
                self._database = None
            raise
        return results

    def _connected(self) -> sqlite3.Connection:
        """The connection, to the file that is there: SQLite goes on writing to one that was deleted."""
        try:
            is_there = os.stat(self._path).st_ino == self._file  # noqa: PTH116 - once a transaction
        except OSError:
            is_there = False
        if not is_there:
            raise StoreError(f"{self._path}: the file is gone. Put it back, or start the service anew")
        if self._database is None:
            self._database = self._open()
        return self._database

    def _open(self) -> sqlite3.Connection:
        try:
            database = sqlite3.connect(
                self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            prepare(database, self._path)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}. Give the path of a file that can be written") from error
        return database
