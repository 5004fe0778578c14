"""The thread that reads exports, so that nobody else waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from ebbtide.database.group_writer import QueueFullError
from ebbtide.service.otlp.export import Export
from ebbtide.service.otlp.span_journal import JournalEntry
from ebbtide.service.otlp.span_receiver import SpanReceiver

_MOST_BYTES: Final = 64 << 20  # of exports that are not read yet


class SpanWorker:
    """Has a receiver work, one thing after the other."""

    def __init__(self, receiver: SpanReceiver) -> None:
        self.receiver = receiver
        self._thread = ThreadPoolExecutor(1, "ebbtide-spans")
        self._lock = threading.Lock()
        self._bytes = 0

    def take(self, entry: JournalEntry) -> Future[Export]:
        """As `SpanReceiver.take`.

        Raises:
            QueueFullError: Too much is not read yet.
        """
        size = len(entry.body)
        with self._lock:
            if self._bytes and self._bytes + size > _MOST_BYTES:
                raise QueueFullError("too many spans wait to be read. Send them again in a moment")
            self._bytes += size
        future = self._thread.submit(self.receiver.take, entry)
        future.add_done_callback(lambda _: self._release(size))
        return future

    def submit(self, step: Callable[[], None]) -> Future[None]:
        """Have something else done, after what was handed over before."""
        return self._thread.submit(step)

    def _release(self, size: int) -> None:
        with self._lock:
            self._bytes -= size
