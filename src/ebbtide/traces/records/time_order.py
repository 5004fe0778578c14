"""Events of a format that writes them as they end, put in the order of their times."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from ebbtide.events.event import Event

_MOST = 10_000  # events that wait; an exporter's batch has a few hundred


class TimeOrder:
    """Holds events back until as many have come as one may be late by.

    Events without a time keep their place behind the one before them.

    Args:
        most: So many wait; one that is later still comes when it comes.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._heap: list[tuple[float, int, Event]] = []
        self._count = 0
        self._latest = float("-inf")

    def add(self, event: Event, ts: float | None = None) -> Sequence[Event]:
        """The events that need not wait any longer.

        Args:
            event: One more event.
            ts: The time to order it by; None: its own.
        """
        at = event.ts if ts is None else ts
        if at is not None:
            self._latest = at
        heapq.heappush(self._heap, (self._latest, self._count, event))
        self._count += 1
        return (heapq.heappop(self._heap)[2],) if len(self._heap) > self._most else ()

    def finish(self) -> Sequence[Event]:
        """All that still wait."""
        events = tuple(event for _, _, event in sorted(self._heap, key=lambda entry: entry[:2]))
        self._heap.clear()
        return events
