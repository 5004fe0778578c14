"""The events of a run, all of them at once."""

from __future__ import annotations

import os

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.events.transcript import Round
from ebbtide.traces.agents.ebbtide_events import EbbtideEvents
from ebbtide.traces.formats import EventFormat
from ebbtide.traces.trace import open_trace


def load_events(path: str | os.PathLike[str]) -> list[Event]:
    """The events in a file of any format that holds some.

    Args:
        path: A file, compressed with gzip or not; ``-`` for standard input.

    Raises:
        TranscriptError: It cannot be read, or holds no events. In Ebbtide's own form, which people write by
            hand, a broken event is refused; elsewhere it is left out.
    """
    trace = open_trace(path)
    if not isinstance(trace.format, EventFormat):
        raise TranscriptError(f"there are no events, but a {trace.format.name}", source=trace.source)
    events = [event for event in trace if not isinstance(event, Round)]
    if trace.faults and (not events or isinstance(trace.format, EbbtideEvents)):
        raise trace.faults[0]
    if not events:
        raise TranscriptError(f"there are no events in this {trace.format.name}", source=trace.source)
    return events
