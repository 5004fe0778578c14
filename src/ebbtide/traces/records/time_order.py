"""Events of a format that writes them as they end, put in the order of their times."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from math import inf

from ebbtide.events.event import Event


class TimeOrder:
    """Holds events back, and gives them in the order of their times.

    Events without a time keep their place behind the one before them.

    Args:
        most: So many wait; one that is later still comes when it comes.
    """

    def __init__(self, most: float = inf) -> None:
        self._most = most
        self._heap: list[tuple[float, int, Event]] = []
        self._count = 0
        self._latest = -inf

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, events: Iterable[Event]) -> list[Event]:
        """Takes some more events; returns those that need not wait any longer."""
        ready: list[Event] = []
        for event in events:
            if event.ts is not None:
                self._latest = event.ts
            self._count += 1
            heapq.heappush(self._heap, (self._latest, self._count, event))
            if len(self._heap) > self._most:
                ready.append(heapq.heappop(self._heap)[2])
        return ready

    def released(self, before: float = inf) -> list[Event]:
        """The events up to a time; nothing that comes later can be earlier than these."""
        events = []
        while self._heap and self._heap[0][0] <= before:
            events.append(heapq.heappop(self._heap)[2])
        return events
