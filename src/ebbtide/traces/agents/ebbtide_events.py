"""Events of a run in Ebbtide's own plain form: an event a line, a JSON list, or an object around one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert

from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Role, ToolCall
from ebbtide.events.event_json import INSTRUCTIONS, MODEL_PARTS, PlainEvents
from ebbtide.events.usage import CLASSES, Usage
from ebbtide.traces.input.document import Content, Document

_KINDS = ("tool", "llm", "user", "system")
_SIGNS = ("args", "result", "error", "phase", "ts", "text")
_SIGNS_OF_MESSAGES = ("text", "model", "cost_usd", *CLASSES)  # which need no name


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


class EbbtideEvents:
    """Events with ``kind``, ``name``, ``args``, ``result`` and so on: the plain form of `ebbtide.events`."""

    name = "ebbtide"
    description = "events with 'kind' and 'name' (Ebbtide's own): an event a line, a JSON list, or 'events'"
    paths = ("events.item", "item", "")

    def refusal(self, document: Document) -> str | None:
        """Why `document` is not one; None if it is."""
        if document.content not in (Content.JSON, Content.JSON_LINES):
            return "not JSON"
        values = document.head
        if document.content is Content.JSON:
            first = values[0]
            inner = first.get("events") if isinstance(first, Mapping) else first
            values = tuple(inner[:10]) if isinstance(inner, list) else values
        if any(map(_is_event, values)):
            return None
        return "no object with 'name' and one of 'kind', 'args' and 'result', and no message with 'kind'"

    def event_reader(self) -> EbbtideEventsReader:
        """A reader before the first event."""
        return EbbtideEventsReader()


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


def _is_event(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    if "repeat" in value:
        return isinstance(value.get("events"), list)
    kind, name = value.get("kind"), value.get("name")
    if kind in _KINDS and ("name" in value or any(sign in value for sign in _SIGNS_OF_MESSAGES)):
        return True
    if not isinstance(name, str) or not isinstance(kind, str | None):
        return False
    return any(sign in value for sign in (_SIGNS if kind else _SIGNS[:2]))
