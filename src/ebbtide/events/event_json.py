"""Events in Ebbtide's plain form: JSON objects with ``kind``, ``name`` and the other fields of an event.

``{"repeat": n, "events": [...]}`` stands for n copies. The ``system`` events ``clock`` (``args.elapsed_s``)
and ``round`` (one parallel batch) give no event of their own: they are the waiting time and the batch of the
next.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ebbtide.errors import TranscriptError
from ebbtide.events.event import (
    Event,
    Message,
    ModelCall,
    ModelPart,
    Notice,
    NoticeKind,
    Phase,
    Role,
    Stop,
    ToolCall,
    is_plain_call_id,
)
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import COUNTS, Usage

_DEEPEST: Final = 8  # blocks in each other
_LONGEST: Final = 100_000  # events that one block may unfold to

_TEXT: Final = ("kind", "name", "text", "chain_id", "agent", "model", "tier")
_NUMBER: Final = ("ts", "waited_s", "cost_usd")
_COUNT: Final = ("seq", "status", "started_calls", *COUNTS)
_COMMON: Final = ("chain_id", "agent", "seq", "ts", "waited_s")
_USAGE: Final = ("model", "tier", "cost_usd", *COUNTS)

#: What the wire form calls a part of a model's call; any other name is a whole one.
MODEL_PARTS: Final[Mapping[str, ModelPart]] = {part.value: part for part in ModelPart}
#: What the wire form says of why a model stopped; any other word counts as not known.
STOPS: Final[Mapping[str, Stop]] = {stop.value: stop for stop in Stop}
#: What the wire form calls a notice; any other name is one of kind OTHER.
NOTICES: Final[Mapping[str, NoticeKind]] = {
    **{kind.value: kind for kind in NoticeKind},
    "conversation_start": NoticeKind.RUN_START,
    "context_compaction": NoticeKind.COMPACTION,
    "context": NoticeKind.NOTE,
    "summary": NoticeKind.NOTE,
}
#: What the wire form calls a message that nobody says at this moment; any other name is a person's.
INSTRUCTIONS: Final = frozenset({"instructions", "system"})


def read_event(wire: object, path: str = "event") -> Event:
    """Returns the event that one object of the plain form describes.

    Args:
        wire: ``kind`` is ``tool`` (or absent), ``llm``, ``user`` or ``system``; anything else is a tool. Only
            a tool needs a ``name``. ``args`` may be JSON in a text. ``error`` may be a flag or the error's
            text, which is then the answer where there is no other. Unknown keys are left aside.
        path: Place in the document, for the error message.

    Raises:
        TranscriptError: A field has a value that it cannot have.

    >>> read_event({"kind": "tool", "name": "ls", "args": {"path": "."}, "error": None}).args
    {'path': '.'}
    >>> read_event({"kind": "user", "name": None, "text": "Go on."}).text
    'Go on.'
    """
    if not isinstance(wire, Mapping):
        raise TranscriptError(f"{wire!r:.80}: expected an object", path=path)
    fields = _typed_fields(wire, path)
    common: dict[str, Any] = {key: fields[key] for key in _COMMON if key in fields}
    usage = {key: fields[key] for key in _USAGE if key in fields}
    if usage:
        common["usage"] = Usage(**usage)
    if wire.get("call") is not None:
        common["call"] = _call(wire["call"], path)
    kind, name, text = fields.get("kind"), fields.get("name"), fields.get("text")
    error, result = wire.get("error"), wire.get("result")
    if isinstance(error, str) and result is None:
        result = error
    if kind == "llm":
        words = text if text is not None or not isinstance(result, str) else result
        part = MODEL_PARTS.get(name or "", ModelPart.WHOLE)
        stop = STOPS.get(str(wire.get("stop")))  # any other word of a provider says nothing that is known
        return ModelCall(text=words, part=part, error=bool(error), stop=stop, **common)
    if kind == "user":
        return Message(text=text, role=Role.SYSTEM if name in INSTRUCTIONS else Role.USER, **common)
    if kind == "system":
        args = wire.get("args")
        ends = args if isinstance(args, Mapping) else {}
        return Notice(
            kind=NOTICES.get(name or "", NoticeKind.OTHER),
            text=text if text is not None or not isinstance(error, str) else error,
            error=bool(error),
            source=_name(ends.get("from", ends.get("source"))),
            target=_name(ends.get("to", ends.get("target"))),
            stated=_stated(wire.get("stated"), path),
            **common,
        )
    if name is None:
        raise _wrong(wire, "name", path, "the name of a tool")
    if wire.get("batch") is not None:
        common["batch"] = str(wire["batch"])
    return ToolCall(
        name=name,
        args=_arguments(wire.get("args")),
        result=result,
        error=bool(error),
        phase=_phase(wire, path),
        status=fields.get("status"),
        starts=_name(wire.get("starts")),
        started_calls=fields.get("started_calls"),
        **common,
    )


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


class PlainEvents:
    """Reader of the events of one run, object by object; numbers those without a ``seq`` by their place."""

    def __init__(self) -> None:
        self._number = 0
        self._wait_s: float | None = None
        self._batch: str | None = None

    def read(self, wire: object, path: str = "event") -> list[Event]:
        """Returns the event that an object describes, those that a block stands for, or none.

        Args:
            wire: An event, as `read_event` takes it, or a block.
            path: Place in the document, for the error message.

        Raises:
            TranscriptError: A field has a value that it cannot have, or a block repeats too much.
        """
        if isinstance(wire, Mapping) and "repeat" not in wire:
            return self._event(wire, path)
        events: list[Event] = []
        for count, (inner, place) in enumerate(_block_events(wire, path, 0)):
            if count == _LONGEST:
                raise TranscriptError(f"more than {_LONGEST:,} events in one block", path=path)
            if inner is not None:
                events += self._event(inner, place)
        return events

    def place(self, event: Event) -> Event:
        """Gives an event, which nobody else has yet, its number and what clocks and rounds before it say."""
        self._number += 1
        if event.seq is None:
            event.seq = self._number
        if self._wait_s is not None:
            if event.waited_s is None:
                event.waited_s = self._wait_s
            self._wait_s = None
        if self._batch is not None and isinstance(event, ToolCall) and event.batch is None:
            event.batch = self._batch
        return event

    def _event(self, wire: Mapping[str, Any], path: str) -> list[Event]:
        event = read_event(wire, path)
        if isinstance(event, Notice) and event.kind is NoticeKind.OTHER:
            name = wire.get("name")
            if name == "clock":
                self._wait_s = (self._wait_s or 0.0) + _elapsed(wire, path)
            if name in ("clock", "round"):
                self._number += 1
                self._batch = self._batch if name == "clock" else f"round {self._number}"
                return []
        return [self.place(event)]


def read_events(wires: Iterable[object], path: str = "events") -> Iterator[Event]:
    """Yields the events of a list of objects: one run.

    Raises:
        TranscriptError: An object has another shape, or a block repeats too much.

    >>> [event.seq for event in read_events([{"repeat": 2, "events": [{"name": "ls"}]}])]
    [1, 2]
    """
    plain = PlainEvents()
    for index, wire in enumerate(wires):
        yield from plain.read(wire, f"{path}[{index}]")


def _typed_fields(wire: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Returns the fields of known types that are there."""
    fields: dict[str, Any] = {}
    for names, kinds, expected in (
        (_TEXT, str, "a text"),
        (_NUMBER, (int, float), "a number"),
        (_COUNT, int, "a whole number"),
    ):
        for name in names:
            value = wire.get(name)
            if value is None:
                continue
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise _wrong(wire, name, path, expected)
            fields[name] = value
    return fields


def _stated(rows: object, path: str) -> tuple[Usage, ...] | None:
    """Returns a stated total: a list of usages."""
    if rows is None:
        return None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise TranscriptError(f"stated = {rows!r:.80}: expected a list of objects", path=path)
    checked = [_typed_fields(row, f"{path}.stated[{index}]") for index, row in enumerate(rows)]
    return tuple(Usage(**{key: row[key] for key in _USAGE if key in row}) for row in checked)


def _call(value: object, path: str) -> CallId:
    """Returns the identity of a model call: an object with its name, and its thread where it has one."""
    if isinstance(value, Mapping):
        call = CallId(value.get("name", ""), value.get("thread") or "")
        if call.name and is_plain_call_id(call):
            return call
    raise TranscriptError(
        f"{value!r:.80}: expected an object with a short name and thread", path=f"{path}.call"
    )


def _phase(wire: Mapping[str, Any], path: str) -> Phase:
    value = wire.get("phase")
    if value is None:
        return Phase.FINISHED
    if value not in tuple(Phase):
        raise _wrong(wire, "phase", path, "started or finished")
    return Phase(value)


def _arguments(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _elapsed(wire: Mapping[str, Any], path: str) -> float:
    args = _arguments(wire.get("args"))
    elapsed = args.get("elapsed_s") if isinstance(args, dict) else None
    if isinstance(elapsed, bool) or not isinstance(elapsed, int | float) or not math.isfinite(elapsed):
        raise TranscriptError(f"elapsed_s = {elapsed!r:.60}: expected seconds", path=f"{path}.args")
    return elapsed


def _block_events(wire: object, path: str, depth: int) -> Iterator[tuple[Mapping[str, Any] | None, str]]:
    """Yields the events of a block with their places; None for an empty block, which has a bound so, too."""
    if not isinstance(wire, Mapping):
        raise TranscriptError(f"{wire!r:.80}: expected an object", path=path)
    if "repeat" not in wire:
        yield wire, path
        return
    times, inner = wire["repeat"], wire.get("events")
    if isinstance(times, bool) or not isinstance(times, int) or times < 0 or not isinstance(inner, list):
        raise TranscriptError(
            f"repeat = {times!r:.40}: expected a whole number, and a list of events beside it", path=path
        )
    if depth > _DEEPEST:
        raise TranscriptError(f"blocks stand more than {_DEEPEST} deep in each other", path=path)
    if not times or not inner:
        yield None, path
    for _ in range(times if inner else 0):
        for at, item in enumerate(inner):
            yield from _block_events(item, f"{path}.events[{at}]", depth + 1)


def _name(value: object) -> str | None:
    return None if value is None else str(value)


def _wrong(wire: Mapping[str, Any], name: str, path: str, expected: str) -> TranscriptError:
    return TranscriptError(f"{wire.get(name)!r:.80}: expected {expected}", path=f"{path}.{name}")
