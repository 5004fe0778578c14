"""Events of a run in Ebbtide's own plain form: an event a line, a JSON list, or an object around one.

Events with ``kind``, ``name``, ``args``, ``result`` and so on: the plain form of `ebbtide.events`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert
from msgspec.json import Decoder

from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Phase, Role, ToolCall
from ebbtide.events.event_json import INSTRUCTIONS, MODEL_PARTS, PlainEvents
from ebbtide.events.usage import Usage

_NOTHING = (None,) * 8
_FINISHED = Phase.FINISHED
_new = ToolCall.__new__
_OTHER_KINDS = frozenset(("llm", "user", "system"))


class _Plain(Struct, gc=False):
    """An event in which every field is as it should be, so that nothing needs a closer look."""

    kind: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None
    result: Any = None
    error: bool | None = None
    text: str | None = None
    chain_id: str | None = None
    agent: str | None = None
    seq: int | None = None
    ts: int | float | None = None
    status: int | None = None
    model: str | None = None
    cost_usd: int | float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    tier: str | None = None
    # Whatever stands there is looked at closely.
    repeat: UnsetType = UNSET
    phase: UnsetType = UNSET
    waited_s: UnsetType = UNSET
    batch: UnsetType = UNSET
    starts: UnsetType = UNSET
    started_calls: UnsetType = UNSET
    stop: UnsetType = UNSET
    call: UnsetType = UNSET
    stated: UnsetType = UNSET


_line = Decoder(_Plain).decode


class EbbtideEventsReader:
    """Reads events one by one: the usual ones quickly, whatever else there is as `PlainEvents` does."""

    duplicates = 0

    def __init__(self) -> None:
        self._events = PlainEvents()
        self._records = 0

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The event, or those that a block stands for.

        Raises:
            TranscriptError: A field has a value that it cannot have, or a block repeats too much.
        """
        self._records += 1
        try:
            event = _event(convert(value, _Plain))
        except ValidationError:
            event = None
        if event is None:
            return self._events.read(value, f"events[{self._records - 1}]" if path else "event")
        return (self._events.place(event),)

    def read_line(self, line: bytes) -> Event | None:
        """The event in a line of JSON; None where only `read` can tell."""
        event = line_event(line)
        if event is None:
            return None
        self._records += 1
        return self._events.place(event)

    def finish(self) -> Sequence[Event]:
        """Nothing: no event stays open."""
        return ()


def line_event(line: bytes) -> Event | None:
    """The event in a line of JSON, with the number that it states; None where a closer look is needed."""
    try:
        return _event(_line(line))
    except (ValueError, RecursionError):  # what msgspec raises
        return None


def _event(plain: _Plain) -> Event | None:
    """The event; None where a closer look is needed."""
    kind, name, model, cost = plain.kind, plain.name, plain.model, plain.cost_usd
    fresh, output = plain.input_tokens, plain.output_tokens
    cached, stored = plain.cache_read_tokens, plain.cache_write_tokens
    reasoning, hour = plain.reasoning_tokens, plain.cache_write_1h_tokens
    usage = None
    if (model, cost, fresh, output, cached, stored, reasoning, hour) != _NOTHING:
        usage = Usage(
            model=model,
            input_tokens=fresh,
            output_tokens=output,
            cache_read_tokens=cached,
            cache_write_tokens=stored,
            reasoning_tokens=reasoning,
            cache_write_1h_tokens=hour,
            tier=plain.tier,
            cost_usd=cost,
        )
    if kind == "tool" or kind not in _OTHER_KINDS:
        if name is None:
            return None
        # Field by field: nearly all lines are calls, and the constructor takes four times as long.
        call = _new(ToolCall)
        call.chain_id, call.agent = plain.chain_id or "", plain.agent
        call.seq, call.ts, call.waited_s, call.usage, call.call = plain.seq, plain.ts, None, usage, None
        call.name, call.args, call.result = name, plain.args, plain.result
        call.error, call.phase = plain.error or False, _FINISHED
        call.batch, call.status, call.starts, call.started_calls = None, plain.status, None, None
        return call
    if kind == "system":
        return None
    words = plain.text
    if kind == "user":
        role = Role.SYSTEM if name in INSTRUCTIONS else Role.USER
        event: Message | ModelCall = Message(text=words, role=role)
    else:
        if words is None and isinstance(plain.result, str):
            words = plain.result
        part = MODEL_PARTS.get(name or "", ModelPart.WHOLE)
        event = ModelCall(text=words, part=part, error=plain.error or False)
    event.chain_id, event.agent = plain.chain_id or "", plain.agent
    event.seq, event.ts, event.usage = plain.seq, plain.ts, usage
    return event
