"""The loop monitor, and what a supervisor reads off it at every event."""

from __future__ import annotations

from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.divergence.signals import Signal
from ebbtide.divergence.watch import ChainWatch
from ebbtide.events.event import Call


class RunMonitor(LoopMonitor):
    """A `LoopMonitor` that shows where it stands without the cost of a snapshot."""

    def taken(self, call: Call) -> tuple[Signal, ...] | None:
        """As `update`, without a lock; None for an event that was told before, and does not count."""
        return self._take(call)

    @property
    def degraded(self) -> int:
        """Events that could not be read in full, or at all."""
        return self._degraded

    @property
    def last_fault(self) -> str | None:
        """What was wrong with the latest of them."""
        return self._last_fault

    def watch_of(self, chain_id: str) -> ChainWatch | None:
        """A chain, or None where it is not watched."""
        return self._chains.get(chain_id)
