"""What follows from the monitor's signals: a hint for the model, a call refused, the run ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from ebbtide.divergence.signals import Level, Signal
from ebbtide.errors import CallBlocked, LoopHalted

_MOST_HINTS = 16


class LoopBrake:
    """Takes signals, and refuses calls accordingly.

    Args:
        refuses: Whether calls are refused at all; hints are kept in any case.
    """

    def __init__(self, *, refuses: bool) -> None:
        self._refuses = refuses
        self._hints: deque[str] = deque(maxlen=_MOST_HINTS)
        self._stop: Signal | None = None
        #: Whether the monitor is to see calls before they are dispatched. Until it has asked to block those
        #: of a loop, there is none that it could refuse.
        self.asks_first = False

    def take(self, signals: Sequence[Signal]) -> None:
        """Take what the monitor said about a call that has ended."""
        for signal in signals:
            self._hints.append(signal.message)
            if signal.level is not Level.HINT:
                self.asks_first = self._refuses
            if signal.level is Level.STOP and self._refuses:
                self._stop = signal

    def refuse(self, signals: Sequence[Signal]) -> None:
        """Take what the monitor said about a call that is about to be dispatched.

        Raises:
            CallBlocked: It belongs to a loop.
            LoopHalted: It goes on with a loop that ends the run.
        """
        self.take(signals)
        self.check()  # whatever was said now: the run may have ended before
        for signal in signals:
            if signal.level is Level.BLOCK:
                raise CallBlocked(signal.message, signal)

    def check(self) -> None:
        """Raise where a loop has ended the run.

        Raises:
            LoopHalted: A loop went on after it had been told.
        """
        if self._stop is not None:
            raise LoopHalted(self._stop.message, self._stop)

    def hints(self) -> list[str]:
        """What to tell the model, each once."""
        found = []
        with suppress(IndexError):
            while True:
                found.append(self._hints.popleft())
        return found
