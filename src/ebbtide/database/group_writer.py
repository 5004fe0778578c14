"""One thread that writes: what several callers hand over meanwhile is one transaction.

A caller gets a future that is done when its part is on disk. Nobody else writes to the database.
A large job has a transaction of its own, and between two of them goes everything small that waits.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from ebbtide.database.session import Session
from ebbtide.errors import StoreError

_T = TypeVar("_T")

_MOST_BYTES: Final = 64 << 20  # that wait to be written
_MOST_TOGETHER: Final = 500  # jobs of one transaction
_LARGE_BYTES: Final = 256 << 10  # of a job: about 1,000 events, which take some hundredths of a second
_PATIENCE_S: Final = 0.1  # of a job for which nobody waits: a transaction takes milliseconds


class QueueFullError(StoreError):
    """More waits to be written than is held in memory: come again in a moment."""


class _Job(NamedTuple):
    run: Callable[[Session], Any]
    future: Future[Any]
    size: int


class WritePlace(Protocol):
    """A database with one writer."""

    #: What messages call it; it never has a password in it.
    name: str

    def writer(self) -> Session:
        """Open the session that writes, and make the tables where there are none."""

    def require(self) -> None:
        """Refuse to go on where the place is gone, and an open session would not notice."""

    def close(self) -> None:
        """Let others have it."""


class GroupWriter:
    """Writes to one database, in a thread of its own.

    Args:
        place: The database. It is closed with the writer.

    Raises:
        StoreError: It cannot be opened, is something else, or another service has it.
    """

    def __init__(self, place: WritePlace) -> None:
        self._place = place
        self._jobs: deque[_Job] = deque()
        self._large: deque[_Job] = deque()
        self._bytes = 0
        self._wake = threading.Condition()
        self._is_over = False
        self._is_urgent = False  # somebody waits for one of the jobs
        try:
            self._session = place.writer()
        except BaseException:
            place.close()
            raise
        self._thread = threading.Thread(target=self._write_all, name="ebbtide-writer", daemon=True)
        self._thread.start()

    def submit(self, run: Callable[[Session], _T], *, size: int = 0, can_wait: bool = False) -> Future[_T]:
        """Have something written; its result is there when it is on disk.

        Args:
            run: Called in the thread of the writer, inside a transaction. It may be called twice, where the
                transaction failed: it changes nothing but the database.
            can_wait: Whether nobody waits for it: it goes with what comes next, or alone a little later.

        Raises:
            QueueFullError: Too much is waiting.
            StoreError: The writer has ended.
        """
        future: Future[_T] = Future()
        future.set_running_or_notify_cancel()  # who waits no more takes nothing back
        with self._wake:
            if self._is_over:
                raise StoreError(f"{self._place.name}: it is closing. Send it again in a moment")
            if self._bytes and self._bytes + size > _MOST_BYTES:
                raise QueueFullError(
                    f"{self._place.name}: too much waits to be written. Send it again in a moment"
                )
            self._bytes += size
            (self._jobs if size < _LARGE_BYTES else self._large).append(_Job(run, future, size))
            self._is_urgent = self._is_urgent or not can_wait
            self._wake.notify()
        return future

    def write(self, run: Callable[[Session], _T]) -> _T:
        """As `submit`, and wait for it.

        Raises:
            StoreError: It cannot be written.
        """
        return self.submit(run).result()

    def waiting(self) -> tuple[int, int]:
        """Jobs that wait to be written, and the bytes that they hold."""
        with self._wake:
            return len(self._jobs) + len(self._large), self._bytes

    def close(self) -> None:
        """Write what waits, and end."""
        with self._wake:
            self._is_over = True
            self._wake.notify()
        self._thread.join()

    def _write_all(self) -> None:
        was_small = False
        while True:
            with self._wake:
                while not self._jobs and not self._large and not self._is_over:
                    self._wake.wait()
                self._wake.wait_for(lambda: self._is_urgent or self._is_over, _PATIENCE_S)
                if self._large and (was_small or not self._jobs):
                    jobs, was_small = [self._large.popleft()], False
                else:
                    jobs = [self._jobs.popleft() for _ in range(min(len(self._jobs), _MOST_TOGETHER))]
                    was_small = True
                self._is_urgent = bool(self._jobs or self._large)
            if not jobs:
                break
            self._write(jobs)
            with self._wake:
                self._bytes -= sum(job.size for job in jobs)
        self._session.close()
        self._place.close()

    def _write(self, jobs: list[_Job]) -> None:
        """Write some jobs together, or one by one where that fails: one of them may be at fault."""
        try:
            results = self._commit(jobs)
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            if len(jobs) > 1 and not self._session.broken:
                for job in jobs:
                    self._write([job])
                return
            failure = error if isinstance(error, StoreError) else StoreError(f"{self._place.name}: {error}")
            for job in jobs:
                job.future.set_exception(failure)
            return
        for job, result in zip(jobs, results, strict=True):
            job.future.set_result(result)

    def _commit(self, jobs: list[_Job]) -> list[Any]:
        self._place.require()
        if self._session.broken:
            self._session.close()
            self._session = self._place.writer()
        session = self._session
        may_be_stale, session.used = session.used, True
        try:
            session.begin(write=True)
            results = [job.run(session) for job in jobs]
        except BaseException:
            session.rollback()
            if may_be_stale and session.broken:  # since it was used last: nothing of this was done
                return self._commit(jobs)
            raise
        try:
            session.commit()
        except BaseException:
            session.rollback()
            raise
        return results


class LatestValues(Generic[_T]):
    """The latest value for each key, on its way to a database: many that come meanwhile are one.

    What cannot be written waits for the next that comes.

    Args:
        write: Writes some of them, in a transaction that may be done twice.
    """

    def __init__(self, writer: GroupWriter, write: Callable[[Session, Mapping[str, _T]], None]) -> None:
        self._writer = writer
        self._write = write
        self._lock = threading.Lock()
        self._values: dict[str, _T] = {}
        self._is_submitted = False  # a job waits that writes them

    def put(self, key: str, value: _T) -> None:
        """Have a value written in the place of the one before.

        Raises:
            QueueFullError: Too much is waiting.
            StoreError: The writer has ended.
        """
        with self._lock:
            self._values[key] = value
            if self._is_submitted:
                return
            self._is_submitted = True
            try:
                future = self._writer.submit(self._write_all, can_wait=True)
            except StoreError:
                self._is_submitted = False
                raise
        future.add_done_callback(self._finish)

    def _write_all(self, session: Session) -> dict[str, _T]:
        with self._lock:
            values = dict(self._values)
            self._is_submitted = False
        self._write(session, values)
        return values

    def _finish(self, future: Future[dict[str, _T]]) -> None:
        with self._lock:
            if future.exception() is not None:
                self._is_submitted = False
                return
            for key, value in future.result().items():
                if self._values.get(key) is value:
                    del self._values[key]
