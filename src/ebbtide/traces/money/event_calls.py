"""Calls of a trace in any other format, of the events that its reader makes."""

from __future__ import annotations

from ebbtide.budget.ledger.call_ledger import SightedCall
from ebbtide.events.event import Event
from ebbtide.events.model_call_id import CallId
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
    for number, event in enumerate(open_trace(path, is_named=False, is_growing=True)):
        if not isinstance(event, Event):
            continue
        if found.began is None:
            found.began = event.ts
        usage = event.usage
        if usage is None or (usage.tokens is None and usage.cost_usd is None):
            continue
        found.calls.append(
            SightedCall(
                event.call or CallId.at(thread, number),
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
    return found
