"""An event as an object of the plain form: what `event_json.read_event` reads back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ebbtide.events.event import Event, Message, ModelCall, Notice, Phase, Role, ToolCall
from ebbtide.events.usage import COUNTS, Usage

_COMMON: Final = ("chain_id", "agent", "seq", "ts", "waited_s")
_USAGE: Final = ("model", "tier", "cost_usd", *COUNTS)


def event_wire(event: Event) -> dict[str, Any]:
    """Returns the object that stands for an event; what is not known is left out.

    >>> event_wire(ToolCall(name="ls", args={"path": "."}, seq=3))
    {'seq': 3, 'kind': 'tool', 'name': 'ls', 'args': {'path': '.'}}
    """
    wire = {name: getattr(event, name) for name in _COMMON}
    if event.usage is not None:
        wire.update(_usage_wire(event.usage))
    if event.call is not None:
        name, thread = event.call
        wire["call"] = {"name": name, "thread": thread} if thread else {"name": name}
    wire.update(_own_fields(event))
    if not event.chain_id:
        del wire["chain_id"]
    return {name: value for name, value in wire.items() if value is not None}


def _own_fields(event: Event) -> Mapping[str, Any]:
    if isinstance(event, ToolCall):
        return {
            "kind": "tool",
            "name": event.name,
            "args": event.args,
            "result": event.result,
            "error": event.error or None,
            "phase": None if event.phase is Phase.FINISHED else event.phase.value,
            "batch": event.batch,
            "status": event.status,
            "starts": event.starts,
            "started_calls": event.started_calls,
        }
    if isinstance(event, ModelCall):
        return {
            "kind": "llm",
            "name": event.part.value,
            "text": event.text,
            "error": event.error or None,
            "stop": None if event.stop is None else event.stop.value,
        }
    if isinstance(event, Message):
        name = "system" if event.role is Role.SYSTEM else None
        return {"kind": "user", "name": name, "text": event.text}
    if isinstance(event, Notice):
        ends = {"from": event.source, "to": event.target}
        return {
            "kind": "system",
            "name": event.kind.value,
            "text": event.text,
            "error": event.error or None,
            "args": {name: value for name, value in ends.items() if value is not None} or None,
            "stated": None if event.stated is None else list(map(_usage_wire, event.stated)),
        }
    raise TypeError(f"{event!r:.60}: expected an event")


def _usage_wire(usage: Usage) -> dict[str, Any]:
    return {name: value for name in _USAGE if (value := getattr(usage, name)) is not None}
