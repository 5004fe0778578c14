"""The latest value for each key, written soon: many that come meanwhile are one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Generic, TypeVar

from ebbtide.database.group_writer import GroupWriter
from ebbtide.database.session import Session
from ebbtide.errors import StoreError

_Value = TypeVar("_Value")


class LatestValues(Generic[_Value]):
    """Values on their way to a database. What cannot be written waits for the next that comes.

    Args:
        writer: Writes them, with what comes next.
        write: Writes some of them, in a transaction that may be done twice.
    """

    def __init__(self, writer: GroupWriter, write: Callable[[Session, Mapping[str, _Value]], None]) -> None:
        self._writer = writer
        self._write = write
        self._lock = threading.Lock()
        self._values: dict[str, _Value] = {}
        self._is_submitted = False  # a job waits that writes them

    def put(self, key: str, value: _Value) -> None:
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

    def _write_all(self, session: Session) -> dict[str, _Value]:
        with self._lock:
            values = dict(self._values)
            self._is_submitted = False
        self._write(session, values)
        return values

    def _finish(self, future: Future[dict[str, _Value]]) -> None:
        with self._lock:
            if future.exception() is not None:
                self._is_submitted = False
                return
            for key, value in future.result().items():
                if self._values.get(key) is value:
                    del self._values[key]
