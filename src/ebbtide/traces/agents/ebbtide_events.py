"""Events of a run in Ebbtide's own plain form: an event a line, a JSON list, or an object around one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Call, Phase, read_call
from ebbtide.traces.formats import Event
from ebbtide.traces.input.document import Content, Document, shape
from ebbtide.traces.records.joining import with_fields

_KINDS = ("tool", "llm", "user", "system")
_SIGNS = ("args", "result", "error", "phase", "ts", "text")
_DEEPEST = 8  # how deep ``repeat`` blocks may stand in each other
_LONGEST = 100_000  # events that one block may unfold to

_FINISHED = Phase.FINISHED


class _Open:
    """A `Call` while its fields are set: the constructor of a frozen class takes eight times as long."""

    __slots__ = Call.__slots__  # Equal slots are what allows an object to change its class.


class _Plain(Struct, gc=False):
    """An event in which every field is as it should be, so that nothing needs a closer look."""

    name: str
    kind: str | None = None
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


class EbbtideEvents:
    """Events with ``kind``, ``name``, ``args``, ``result`` and the other fields of `Call`.

    ``{"repeat": n, "events": [...]}`` stands for n copies. ``system`` events ``clock`` (``args.elapsed_s``)
    and ``round`` (one parallel batch) are the waiting time and the batch of the next.
    """

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
        return "no object with 'name' and one of 'kind', 'args' and 'result'"

    def event_reader(self) -> EbbtideEventsReader:
        """A reader before the first event."""
        return EbbtideEventsReader()


class EbbtideEventsReader:
    """Reads events one by one, and numbers those without a ``seq`` by their place in the run."""

    duplicates = 0

    def __init__(self) -> None:
        self._number = 0
        self._records = 0
        self._waited: float | None = None
        self._batch: str | None = None

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The event, or those that a block stands for.

        Raises:
            TranscriptError: A field has a value that it cannot have, or a block repeats too much.
        """
        self._records += 1
        try:
            plain = convert(value, _Plain)
        except ValidationError:
            return self._closely(value, path)
        if plain.kind == "system":
            return self._closely(value, path)
        return (self._call(plain),)

    def finish(self) -> Sequence[Event]:
        """Nothing: no event stays open."""
        return ()

    def _closely(self, value: Any, path: str) -> Sequence[Event]:
        place = f"events[{self._records - 1}]" if path else "event"
        found: list[Event] = []
        for event, at in _unfolded(value, place, 0):
            found += self._event(event, at)
            if len(found) > _LONGEST:
                raise TranscriptError(f"more than {_LONGEST:,} events in one block", path=place)
        return found

    def _call(self, event: _Plain) -> Call:
        self._number += 1
        call: Any = _Open()
        call.name = event.name
        call.kind = event.kind or "tool"
        call.args = event.args
        call.result = event.result
        call.error = event.error or False
        call.text = event.text
        call.phase = _FINISHED
        call.chain_id = event.chain_id or ""
        call.agent = event.agent
        call.seq = self._number if event.seq is None else event.seq
        call.ts = event.ts
        call.waited_s, self._waited = self._waited, None
        call.batch = self._batch
        call.status = event.status
        call.model = event.model
        call.cost_usd = event.cost_usd
        call.input_tokens = event.input_tokens
        call.output_tokens = event.output_tokens
        call.cache_read_tokens = event.cache_read_tokens
        call.cache_write_tokens = event.cache_write_tokens
        call.__class__ = Call
        frozen: Call = call
        return frozen

    def _event(self, event: Mapping[str, Any], place: str) -> Sequence[Call]:
        call = read_call(event, place)
        self._number += 1
        if call.kind == "system" and call.name == "round":
            self._batch = f"round {self._number}"
            return ()
        if call.kind == "system" and call.name == "clock":
            self._waited = (self._waited or 0.0) + _elapsed(call, place)
            return ()
        waited, self._waited = self._waited, None
        return (
            with_fields(
                call,
                seq=self._number if call.seq is None else call.seq,
                waited_s=waited if call.waited_s is None else call.waited_s,
                batch=self._batch if call.batch is None and call.kind != "system" else call.batch,
            ),
        )


def _is_event(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    if "repeat" in value:
        return isinstance(value.get("events"), list)
    kind = value.get("kind")
    if "name" in value and kind in _KINDS:
        return True
    if not isinstance(value.get("name"), str) or not isinstance(kind, str | None):
        return False
    return any(sign in value for sign in (_SIGNS if kind else _SIGNS[:2]))


def _elapsed(call: Call, place: str) -> float:
    elapsed = call.args.get("elapsed_s") if isinstance(call.args, dict) else None
    if isinstance(elapsed, bool) or not isinstance(elapsed, int | float) or not math.isfinite(elapsed):
        raise TranscriptError(f"elapsed_s = {elapsed!r:.60}: expected seconds", path=f"{place}.args")
    return elapsed


def _unfolded(event: Any, place: str, depth: int) -> Iterator[tuple[Mapping[str, Any], str]]:
    if not isinstance(event, Mapping):
        raise TranscriptError(f"expected an event, found {shape(event)}", path=place)
    if "repeat" not in event:
        yield event, place
        return
    times, inner = event["repeat"], event.get("events")
    if isinstance(times, bool) or not isinstance(times, int) or times < 0 or not isinstance(inner, list):
        raise TranscriptError(
            f"repeat = {times!r:.40}: expected a whole number, and a list of events beside it", path=place
        )
    if depth > _DEEPEST:
        raise TranscriptError(f"blocks stand more than {_DEEPEST} deep in each other", path=place)
    for _ in range(times if inner else 0):
        for at, item in enumerate(inner):
            yield from _unfolded(item, f"{place}.events[{at}]", depth + 1)
