"""The thread that writes what has changed in a registry of runs, and the writing at the end of a process."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from typing import Protocol

_BREATH_S = 0.001
_REST = 4  # times as long as saving took, it waits: it takes at most a fifth of a processor


class SavedRegistry(Protocol):
    """What is asked of a registry; `Runs` is one."""

    def save(self) -> None:
        """Write every run that has changed."""

    def put_away(self) -> None:
        """Move runs to the store that were silent for long, or are too many."""

    def close(self) -> None:
        """Write every run that has changed, and write no more by itself."""


class RunSaver:
    """Saves a registry as long as it is there; of one that is closed it saves no more.

    Args:
        runs: The registry, which it does not keep alive.
        every_s: Seconds between two writings.
    """

    def __init__(self, runs: SavedRegistry, every_s: float) -> None:
        self._runs = weakref.ref(runs)
        self._every_s = every_s
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        atexit.register(_close, self._runs)

    def keep_on(self) -> None:
        """See to it that its thread runs, which it does not after a fork."""
        if self._thread is not None and self._thread.is_alive():
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                arguments = (self._runs, self._closing, self._every_s)
                self._thread = threading.Thread(
                    target=_save_again, args=arguments, name="ebbtide", daemon=True
                )
                self._thread.start()

    def breathe(self) -> None:
        """Between two runs, in its thread: who waits for the lock of the registry gets it."""
        if threading.current_thread() is self._thread:
            time.sleep(_BREATH_S)

    def close(self) -> None:
        """Save no more."""
        self._closing.set()


def _save_again(reference: weakref.ref[SavedRegistry], closing: threading.Event, every_s: float) -> None:
    rest = every_s
    while not closing.wait(rest):
        runs = reference()
        if runs is None:
            return
        start = time.monotonic()
        runs.save()
        runs.put_away()
        rest = max(every_s, _REST * (time.monotonic() - start))
        del runs


def _close(reference: weakref.ref[SavedRegistry]) -> None:
    runs = reference()
    if runs is not None:
        runs.close()
