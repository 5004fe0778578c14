"""Events that are made, and wait for what may be earlier."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from ebbtide.events.event import Event


class ReadyEvents:
    """Gives events in the order of their times; one without a time keeps its place behind the one before."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Event]] = []
        self._count = 0
        self._latest = -math.inf

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, events: Sequence[Event]) -> None:
        """Some more."""
        for event in events:
            if event.ts is not None:
                self._latest = event.ts
            self._count += 1
            heapq.heappush(self._heap, (self._latest, self._count, event))

    def released(self, before: float) -> list[Event]:
        """Those that nothing which comes later can be earlier than."""
        events = []
        while self._heap and self._heap[0][0] <= before:
            events.append(heapq.heappop(self._heap)[2])
        return events
