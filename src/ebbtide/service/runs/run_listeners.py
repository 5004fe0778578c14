"""Who is told of runs: functions of other parts of the service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from ebbtide.service.runs.run_event import RunEvent
from ebbtide.service.runs.run_origin import RunOrigin
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.verdict import Verdict

#: Told of a run whose verdict has changed, and what holds now.
VerdictListener = Callable[[str, Verdict], object]
#: Told of events that are on disk now, which is to take no time.
EventsListener = Callable[[Sequence[RunEvent], RunOrigin], object]
#: Told of a run that was heard of.
RunListener = Callable[[RunStanding], object]


def tell_events(
    listener: EventsListener, events: Sequence[RunEvent], origin: RunOrigin, future: Future[list[int]]
) -> None:
    """Tell of those that were not there before, once they are on disk."""
    if future.exception() is None:
        listener([item for item, place in zip(events, future.result(), strict=True) if place], origin)
