"""The thread that writes what has changed in a registry of runs, and the writing at the end of a process."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from ebbtide.errors import ConfigError, EbbtideError, StoreError
from ebbtide.supervision.runs.run_store import RunLog, RunStore
from ebbtide.supervision.runs.watched_run import WatchedRun
from ebbtide.supervision.supervisor import Supervisor

_BREATH_S = 0.001
_Method = weakref.WeakMethod[Callable[[], None]]

_REST = 4  # times as long as saving took, it waits: it takes at most a fifth of a processor


class RunSaver:
    """Saves a registry as long as it is there; of one that is closed it saves no more.

    Args:
        tidy: A method of the registry, which it does not keep alive: writes what has changed, and puts away.
        finish: Another: what is to be done at the end of the process.
        every_s: Seconds between two writings.
    """

    def __init__(self, tidy: Callable[[], None], finish: Callable[[], None], every_s: float) -> None:
        self._tidy = weakref.WeakMethod(tidy)
        self._every_s = every_s
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        atexit.register(_call, weakref.WeakMethod(finish))

    def keep_on(self) -> None:
        """Sees to it that its thread runs, which it does not after a fork."""
        if self._thread is not None and self._thread.is_alive():
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                arguments = (self._tidy, self._closing, self._every_s)
                self._thread = threading.Thread(
                    target=_save_again, args=arguments, name="ebbtide", daemon=True
                )
                self._thread.start()

    def breathe(self) -> None:
        """Rests between two runs, in its thread: who waits for the lock of the registry gets it."""
        if threading.current_thread() is self._thread:
            time.sleep(_BREATH_S)

    def close(self) -> None:
        """Saves no more."""
        self._closing.set()


def _save_again(
    tidy: weakref.WeakMethod[Callable[[], None]], closing: threading.Event, every_s: float
) -> None:
    rest = every_s
    while not closing.wait(rest):
        start = time.monotonic()
        if not _call(tidy):
            return
        rest = max(every_s, _REST * (time.monotonic() - start))


def _call(method: _Method) -> bool:
    """Calls a method of a registry, unless that is gone; returns True if it was there."""
    bound = method()
    if bound is None:
        return False
    bound()
    return True


RETRY_S: Final = 1.0  #: between two tries to read a run from a log that was away


class RunReader:
    """Makes runs.

    Args:
        make: Makes the supervisor of a run, given its id.
        store: Has the states of runs.
        log: Has all events; None where nobody keeps them.
        clock: Seconds since 1970.
        fault: Called with what failed: the part, and its error.
        has_budgets: True if budgets are asked before each call; else what a budget refused before holds
            no longer.
    """

    def __init__(
        self,
        make: Callable[[str], Supervisor],
        store: RunStore,
        log: RunLog | None,
        clock: Callable[[], float],
        fault: Callable[[str, Exception], None],
        *,
        has_budgets: bool,
    ) -> None:
        self._make = make
        self._store = store
        self._log = log
        self._clock = clock
        self._fault = fault
        self._has_budgets = has_budgets

    def read(self, run_id: str) -> WatchedRun:
        """Returns a run; one that cannot be read begins anew, and is read later where a log has its events.

        Raises:
            TypeError: `make` gave something else than a `Supervisor`.
            ConfigError: The run has limits, and its state cannot be read: it would start from zero.
        """
        supervisor = self._supervisor(run_id)
        try:
            return self._as_stored(run_id, supervisor)
        except EbbtideError as error:
            if supervisor.limits is not None:
                raise ConfigError(
                    f"run {run_id!r:.60} has limits, and what it took so far cannot be read: {error}. "
                    "Mend the store, or `forget` the run to let it start from zero"
                ) from error
            self._fault("store", error)
            run = WatchedRun(self._supervisor(run_id), self._clock())
            if self._log is not None:
                with suppress(EbbtideError):
                    run.catch_up(run_id, self._log)
                if isinstance(error, StoreError):
                    run.retry_at = time.monotonic() + RETRY_S
            return run

    def read_again(self, run_id: str) -> WatchedRun | None:
        """Returns a run that could not be read before; None where it still cannot."""
        try:
            return self._as_stored(run_id, self._supervisor(run_id))
        except EbbtideError as error:
            self._fault("store", error)
            return None

    def _as_stored(self, run_id: str, supervisor: Supervisor) -> WatchedRun:
        run = WatchedRun(supervisor, self._clock())
        stored = self._store.load(run_id)
        if stored is not None:
            supervisor.load(stored.state)
            run = WatchedRun(supervisor, self._clock(), stored)
        if not self._has_budgets:
            supervisor.hold_budget(None)
        if self._log is not None:
            run.catch_up(run_id, self._log)
        return run

    def _supervisor(self, run_id: str) -> Supervisor:
        supervisor = self._make(run_id)
        if not isinstance(supervisor, Supervisor):
            raise TypeError(f"make({run_id!r:.60}) gave {type(supervisor).__name__}: expected a Supervisor")
        return supervisor
