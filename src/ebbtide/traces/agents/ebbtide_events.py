"""Events of a run in Ebbtide's own plain form: an event a line, a JSON list, or an object around one.

Events with ``kind``, ``name``, ``args``, ``result`` and so on: the plain form of `ebbtide.events`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert

from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Role, ToolCall
from ebbtide.events.event_json import INSTRUCTIONS, MODEL_PARTS, PlainEvents
from ebbtide.events.usage import Usage


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
    # Whatever stands there is looked at closely.
    repeat: UnsetType = UNSET
    phase: UnsetType = UNSET
    waited_s: UnsetType = UNSET
    batch: UnsetType = UNSET

    @property
    def usage(self) -> Usage | None:
        """What it took, where anything of that is known."""
        usage = Usage(
            model=self.model,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cache_read_tokens=self.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens,
            cost_usd=self.cost_usd,
        )
        return None if usage == _NO_USAGE else usage


_NO_USAGE = Usage()


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

    def finish(self) -> Sequence[Event]:
        """Nothing: no event stays open."""
        return ()


def _event(plain: _Plain) -> Event | None:
    """The event; None where a closer look is needed."""
    kind, name = plain.kind, plain.name
    chain_id, error = plain.chain_id or "", plain.error or False
    if kind == "system" or (name is None and kind not in ("llm", "user")):
        return None
    if kind == "llm":
        text = plain.text if plain.text is not None or not isinstance(plain.result, str) else plain.result
        return ModelCall(
            text=text,
            part=MODEL_PARTS.get(name or "", ModelPart.WHOLE),
            error=error,
            chain_id=chain_id,
            agent=plain.agent,
            seq=plain.seq,
            ts=plain.ts,
            usage=plain.usage,
        )
    if kind == "user":
        return Message(
            text=plain.text,
            role=Role.SYSTEM if name in INSTRUCTIONS else Role.USER,
            chain_id=chain_id,
            agent=plain.agent,
            seq=plain.seq,
            ts=plain.ts,
            usage=plain.usage,
        )
    return ToolCall(
        name=name or "",
        args=plain.args,
        result=plain.result,
        error=error,
        status=plain.status,
        chain_id=chain_id,
        agent=plain.agent,
        seq=plain.seq,
        ts=plain.ts,
        usage=plain.usage,
    )
