"""Calls of a trace in any other format, of the events that its reader makes."""

from __future__ import annotations

from ebbtide.budget.ledger.call_ledger import SightedCall
from ebbtide.events.event import Event, Notice, ToolCall
from ebbtide.events.model_call_id import CallId
from ebbtide.traces.money.file_calls import FileCalls, sighted_call
from ebbtide.traces.reading import open_trace
from ebbtide.traces.records.calls_once import AMOUNTS


def read_calls(path: str, thread: str) -> FileCalls:
    """The calls of a file.

    Args:
        path: A trace of any known format.
        thread: The id of its session: calls without an identity are known by it and by their place in it.

    Raises:
        TranscriptError: It cannot be read.
    """
    found = FileCalls(calls=[], models={}, thread=thread)
    places: dict[CallId, int] = {}
    for number, event in enumerate(open_trace(path, is_named=False, is_growing=True)):
        if not isinstance(event, Event):
            continue
        if found.began is None:
            found.began = event.ts
        if isinstance(event, Notice) and event.stated is not None:
            # A session is known by its first call, in copies too.
            name = str(found.calls[0].id) if found.calls else thread
            found.stated[name] = {usage.model or "": usage for usage in event.stated}
            found.stated_at = event.ts
        elif (usage := event.usage) is not None and (usage.tokens is not None or usage.cost_usd is not None):
            call_id, is_model = event.call or CallId.at(thread, number), not isinstance(event, ToolCall)
            call = sighted_call(call_id, event.ts, usage, agent=event.agent, is_model=is_model)
            place = places.setdefault(call.id, len(found.calls))
            if place == len(found.calls):
                found.calls.append(call)
            else:
                found.calls[place] = _grown(found.calls[place], call)
    return found


def _grown(call: SightedCall, growth: SightedCall) -> SightedCall:
    """A call with what a later event states that it took beyond what the events before did."""
    amounts = {}
    for name in AMOUNTS:
        before, more = getattr(call, name), getattr(growth, name)
        amounts[name] = before if more is None else more + (before or 0)
    return call._replace(**amounts)
