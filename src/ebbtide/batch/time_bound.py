"""A bound on the time that one run may take, so that one does not hold up all others."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(BaseException):
    """The time is over. It is no `Exception`, since watching goes on after those.

    Args:
        seconds: How long it might have taken.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"it took longer than {seconds:g} s")


@contextmanager
def time_bound(seconds: float | None) -> Iterator[None]:
    """Give up what is done in the block when its time is over.

    It is done with the alarm of the process, so it holds in a main thread and where there are such alarms:
    not on Windows. Elsewhere nothing is bounded.

    Args:
        seconds: How long it may take; None does not bound it.

    Raises:
        OutOfTime: It took longer.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if seconds is None or not in_main or not hasattr(signal, "setitimer"):
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTime(seconds)

    handler = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
