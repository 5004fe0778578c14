"""Events whose every field is what it says: bad data counts as not known, and is reported.

A program hands over what it has: an id that is a number, an object where arguments belong, a time that is a
text. Nothing of it may break the run that is watched, or show only when the watch is stored. So each field
that is not of its type is replaced before anybody reads it: an id by its text form, what has the right type
under another class by its plain form, and everything else by what stands for "not known".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Final, TypeVar, cast

from ebbtide.errors import shown
from ebbtide.events.event import (
    LONGEST_ID,
    WIDEST,
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
    is_plain_stated,
    is_plain_usage,
)
from ebbtide.events.model_call_id import CallId
from ebbtide.events.plain_value import id_text, plain_value, shortened
from ebbtide.events.usage import COUNTS, Usage

_Event = TypeVar("_Event", bound=Event)
_Label = TypeVar("_Label", bound=StrEnum)
_HEAD = 64  # characters of a longer one that are kept, before its hash
_HASH = 8  # bytes
_IMPOSSIBLE = -1  # a count or a cost that is no number: the tally counts it among its faults


def plain_event(event: _Event) -> tuple[_Event, tuple[str, ...]]:
    """Returns an event as one of the four classes with plain fields, and what was wrong with it.

    >>> call, faults = plain_event(ToolCall(name="ls", chain_id=7, args={}))
    >>> call.chain_id, faults
    ('7', ('chain_id = 7: expected str',))
    """
    reader = _Fields(event)
    kinds = (kind for kind in (ToolCall, ModelCall, Message, Notice) if isinstance(event, kind))
    kind = next(kinds, Event)
    copy = kind(**{field.name: _READERS[field.name](reader) for field in fields(kind)})
    return cast(_Event, copy), tuple(reader.faults)


class _Fields:
    """Reader of the fields of an event or of its usage, each as what it should be."""

    def __init__(self, item: object, prefix: str = "") -> None:
        self._item = item
        self._prefix = prefix
        self.faults: list[str] = []

    def get(self, field: str) -> Any:
        try:
            return getattr(self._item, field)
        except Exception:  # noqa: BLE001 - never set, or a property of a class that nobody knows
            self._fault(field, "a value that can be read")
            return None

    def name(self, field: str, *, optional: bool = False) -> str | None:
        """Returns an id or a name; of one that is too long the hash counts."""
        value = self.get(field)
        if value is None and optional:
            return None
        try:
            if isinstance(value, str):
                return _short(str.__str__(value))
            self._fault(field, "str", value)
            return "" if value is None else _short(id_text(value))
        except Exception:  # noqa: BLE001 - a foreign object can do anything
            return ""

    def batch(self) -> str | int | None:
        value = self.get("batch")
        return self.number("batch", (int,)) if type(value) is int else self.name("batch", optional=True)

    def text(self) -> str | None:
        value = self.get("text")
        if value is None:
            return None
        if _is_of(value, (str,)):
            return shortened(str.__str__(value))
        self._fault("text", "str", value)
        return None

    def number(self, field: str, kinds: tuple[type, ...], otherwise: int | None = None) -> Any:
        """Returns a number as a plain one; NaN, infinity and the like are for those who count with it."""
        value = self.get(field)
        if value is None:
            return None
        if _is_of(value, kinds) and type(value) is not bool:
            number = int.__int__(value) if isinstance(value, int) else float.__float__(value)
            if type(number) is float or -WIDEST < number < WIDEST:
                return number
        if otherwise is None:
            self._fault(field, " or ".join([kind.__name__ for kind in kinds]), value)
        return otherwise

    def flag(self, field: str) -> bool:
        value = self.get(field)
        try:
            return bool(value)
        except Exception:  # noqa: BLE001 - a foreign object can do anything
            self._fault(field, "bool", value)
            return False

    def label(self, field: str, kind: type[_Label], otherwise: _Label) -> _Label:
        value = self.get(field)
        if type(value) is kind or type(value) is str:
            try:
                return kind(value)
            except ValueError:
                pass
        self._fault(field, kind.__name__, value)
        return otherwise

    def stop(self) -> Stop | None:
        return None if getattr(self._item, "stop", None) is None else self.label("stop", Stop, Stop.END)

    def usage(self) -> Usage | None:
        usage = self.get("usage")
        if usage is None or (type(usage) is Usage and is_plain_usage(usage)):
            return usage
        if not _is_of(usage, (Usage,)):
            self._fault("usage", "Usage", usage)
            return None
        reader = _Fields(usage, "usage.")
        copy = Usage(
            model=reader.name("model", optional=True),
            tier=reader.name("tier", optional=True),
            cost_usd=reader.number("cost_usd", (int, float), _IMPOSSIBLE),
            **{name: reader.number(name, (int,), _IMPOSSIBLE) for name in COUNTS},
        )
        self.faults += reader.faults
        return copy

    def call(self) -> CallId | None:
        call = self.get("call")
        if call is None or is_plain_call_id(call):
            return cast("CallId | None", call)
        self._fault("call", "CallId", call)
        return None

    def stated(self) -> tuple[Usage, ...] | None:
        stated = self.get("stated")
        if stated is None or is_plain_stated(stated):
            return cast("tuple[Usage, ...] | None", stated)
        self._fault("stated", "a tuple of Usage", stated)
        return None

    def _fault(self, field: str, expected: str, value: object = None) -> None:
        self.faults.append(f"{self._prefix}{field} = {shown(value)}: expected {expected}")


def _is_of(value: object, kinds: tuple[type, ...]) -> bool:
    try:
        return isinstance(value, kinds)
    except Exception:  # noqa: BLE001 - an object can lie about its class, and fail at it
        return False


def _short(text: str) -> str:
    if len(text) <= LONGEST_ID:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH).hexdigest()
    return f"{text[:_HEAD]} {digest}"


#: Readers of the fields of events, by their names.
_READERS: Final[Mapping[str, Callable[[_Fields], Any]]] = {
    "chain_id": lambda event: event.name("chain_id") or "",
    "agent": lambda event: event.name("agent", optional=True),
    "seq": lambda event: event.number("seq", (int,)),
    "ts": lambda event: event.number("ts", (int, float)),
    "waited_s": lambda event: event.number("waited_s", (int, float)),
    "usage": _Fields.usage,
    "call": _Fields.call,
    "name": lambda event: event.name("name") or "",
    "args": lambda event: plain_value(event.get("args")),
    "result": lambda event: plain_value(event.get("result")),
    "error": lambda event: event.flag("error"),
    "phase": lambda event: event.label("phase", Phase, Phase.FINISHED),
    "batch": _Fields.batch,
    "status": lambda event: event.number("status", (int,)),
    "starts": lambda event: event.name("starts", optional=True),
    "started_calls": lambda event: event.number("started_calls", (int,)),
    "text": _Fields.text,
    "part": lambda event: event.label("part", ModelPart, ModelPart.WHOLE),
    "stop": _Fields.stop,
    "role": lambda event: event.label("role", Role, Role.USER),
    "kind": lambda event: event.label("kind", NoticeKind, NoticeKind.OTHER),
    "source": lambda event: event.name("source", optional=True),
    "target": lambda event: event.name("target", optional=True),
    "stated": _Fields.stated,
}
