"""Events in Ebbtide's plain form: JSON objects with ``kind``, ``name`` and the other fields of an event."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    ToolCall,
)
from ebbtide.events.usage import CLASSES, Usage

_TEXT: Final = ("kind", "name", "text", "chain_id", "agent", "model")
_NUMBER: Final = ("ts", "waited_s", "cost_usd")
_COUNT: Final = ("seq", "status", *CLASSES)
_COMMON: Final = ("chain_id", "agent", "seq", "ts", "waited_s")
_USAGE: Final = ("model", "cost_usd", *CLASSES)

#: What the wire form calls a part of a model's call; any other name is a whole one.
MODEL_PARTS: Final[Mapping[str, ModelPart]] = {part.value: part for part in ModelPart}
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
    """The event that one object of the plain form describes.

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
    fields = _checked(wire, path)
    common: dict[str, Any] = {key: fields[key] for key in _COMMON if key in fields}
    usage = {key: fields[key] for key in _USAGE if key in fields}
    if usage:
        common["usage"] = Usage(**usage)
    kind, name, text = fields.get("kind"), fields.get("name"), fields.get("text")
    error, result = wire.get("error"), wire.get("result")
    if isinstance(error, str) and result is None:
        result = error
    if kind == "llm":
        said = text if text is not None or not isinstance(result, str) else result
        part = MODEL_PARTS.get(name or "", ModelPart.WHOLE)
        return ModelCall(text=said, part=part, error=bool(error), **common)
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
        **common,
    )


def _checked(wire: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The fields of known types that are there."""
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


def _name(value: object) -> str | None:
    return None if value is None else str(value)


def _wrong(wire: Mapping[str, Any], name: str, path: str, expected: str) -> TranscriptError:
    return TranscriptError(f"{wire.get(name)!r:.80}: expected {expected}", path=f"{path}.{name}")
