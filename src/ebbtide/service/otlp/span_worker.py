"""The threads that take exports, so that nobody waits for the export of somebody else.

An export is acknowledged when it was read and is on disk. Its spans are looked at after that, in the order in
which exports came to the disk.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Final

from ebbtide.database.group_writer import QueueFullError
from ebbtide.service.otlp.export import Export, PackedExport
from ebbtide.service.otlp.span_receiver import SpanReceiver

_log = logging.getLogger(__name__)
_MOST_BYTES: Final = 64 << 20  # of exports whose spans wait to be looked at
_READERS: Final = 4  # a small export passes a large one


class SpanWorker:
    """Has a receiver work, one thing after the other."""

    def __init__(self, receiver: SpanReceiver) -> None:
        self.receiver = receiver
        self._readers = ThreadPoolExecutor(_READERS, "ebbtide-exports")
        self._keeper = ThreadPoolExecutor(1, "ebbtide-export-journal")
        self._thread = ThreadPoolExecutor(1, "ebbtide-spans")
        self._lock = threading.Lock()
        self._bytes = 0

    def take(self, packed: PackedExport) -> Future[Export]:
        """Reads an export; it is on disk when the future is done.

        The future fails as `PackedExport.read` and `SpanReceiver.keep` do.

        Raises:
            QueueFullError: Too many spans wait to be looked at.
        """
        size = len(packed.body)
        with self._lock:
            if self._bytes and self._bytes + size > _MOST_BYTES:
                raise QueueFullError("too many spans wait to be read. Send them again in a moment")
            self._bytes += size
        future = self._readers.submit(self._take, packed)
        future.add_done_callback(partial(self._acknowledged, size))
        return future

    def resume(self) -> Future[None]:
        """Resumes as `SpanReceiver.resume` does; exports that come meanwhile are kept after those."""
        return self._keeper.submit(lambda: self._thread.submit(self.receiver.resume).result())

    def submit(self, step: Callable[[], None]) -> Future[None]:
        """Has something else done, after what was kept before."""
        return self._thread.submit(step)

    def _take(self, packed: PackedExport) -> Export:
        export, size = packed.read()
        if not export.is_empty:
            self._keeper.submit(self._keep, packed, export, size).result()
        return export

    def _keep(self, packed: PackedExport, export: Export, size: int) -> None:
        mark = self.receiver.keep(packed)
        taken = self._thread.submit(self.receiver.take, export, size, mark)
        taken.add_done_callback(partial(self._taken, len(packed.body)))

    def _acknowledged(self, size: int, future: Future[Export]) -> None:
        """Makes room where nothing of an export waits to be looked at."""
        if future.cancelled() or future.exception() is not None or future.result().is_empty:
            self._release(size)

    def _taken(self, size: int, taken: Future[None]) -> None:
        self._release(size)
        error = taken.exception()
        if error is not None:
            _log.error("a fault of the receiver of spans", exc_info=error)

    def _release(self, size: int) -> None:
        with self._lock:
            self._bytes -= size
