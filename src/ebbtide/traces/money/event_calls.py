"""Calls of a trace in any other format, of the events that its reader makes."""

from __future__ import annotations

from ebbtide.budget.ledger.call_ledger import SightedCall
from ebbtide.budget.tally import Tally
from ebbtide.events.event import Event, Notice
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage
from ebbtide.traces.money.file_calls import FileCalls
from ebbtide.traces.reading import open_trace


def read_calls(path: str, thread: str) -> FileCalls:
    """The calls of a file.

    Args:
        path: A trace of any known format.
        thread: The id of its session: calls without an identity are known by it and by their place in it.

    Raises:
        TranscriptError: It cannot be read.
    """
    found = FileCalls(calls=[], models={}, thread=thread)
    tally = Tally()
    for number, event in enumerate(open_trace(path, is_named=False, is_growing=True)):
        if not isinstance(event, Event):
            continue
        if found.began is None:
            found.began = event.ts
        if event.usage is not None:
            tally.spend(event.usage)
            _add(found, event.usage, event, event.call or CallId.at(thread, number))
        elif isinstance(event, Notice) and event.stated is not None:
            tally.settle(event.stated)
            if tally.settlement is not None:
                # A total that is stated counts as far as it is more than the calls.
                for place, item in enumerate(tally.settlement.remainders):
                    _add(found, item.usage, event, CallId.at(thread, f"{number} {place}"))
    return found


def _add(found: FileCalls, usage: Usage, event: Event, call_id: CallId) -> None:
    if usage.tokens is None and usage.cost_usd is None:
        return
    found.calls.append(
        SightedCall(
            call_id,
            event.ts,
            usage.model,
            usage.tier,
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
            usage.reasoning_tokens,
            usage.cache_write_1h_tokens,
            usage.cost_usd,
            agent=event.agent,
        )
    )
