"""Sessions of pi: JSON lines, a header of type ``session`` and entries of type ``message``, in a tree.

Each answer states its usage and its cost. An entry that stands in several branches is one entry. OpenClaw,
which is built on pi, writes into them too what it sent to a channel: no model said that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.fields import (
    dollars,
    identifier,
    items,
    joined_text,
    mapping,
    seconds,
    shown,
    text,
)
from ebbtide.traces.records.joining import JoiningReader
from ebbtide.traces.records.provider_usage import reported, usage_named

_FAILED = ("error", "aborted")
_NO_MODELS = ("delivery-mirror", "gateway-injected")  # of what OpenClaw writes in the name of one


class PiReader(JoiningReader):
    """Reads a session line by line."""

    def __init__(self) -> None:
        super().__init__()
        self._once = CallsOnce()
        self._model: str | None = None  # of the answers that do not name theirs
        self.project: str | None = None  #: the folder it worked in, as its header says

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """Returns the events that this line completes."""
        if not isinstance(value, dict):
            return ()
        kind, ts = value.get("type"), seconds(value.get("timestamp"))
        if kind in ("session", "model_change"):
            self.project = text(value.get("cwd")) or self.project
            self._model = text(value.get("modelId")) or self._model
            return ()
        if kind in ("compaction", "branch_summary"):
            words = text(value.get("summary"))
            notice = NoticeKind.COMPACTION if kind == "compaction" else NoticeKind.NOTE
            return (Notice(kind=notice, text=words, ts=ts),)
        message = mapping(value.get("message"))
        role = message.get("role")
        if kind != "message" or not isinstance(role, str):
            return ()
        if role == "assistant" and message.get("model") in _NO_MODELS:
            return (Notice(kind=NoticeKind.NOTE, text=joined_text(message.get("content")), ts=ts),)
        if role == "assistant":
            return self._answer(message, identifier(value.get("id")), ts)
        if role == "toolResult":
            result, failed = shown(message.get("content")), message.get("isError") is True
            return self._calls.close(
                identifier(message.get("toolCallId")), result=result, error=failed, ts=ts
            )
        words = joined_text(message.get("content"))
        return () if words is None or role != "user" else (Message(text=words, ts=ts),)

    def _answer(self, message: Mapping[str, Any], entry: str | None, ts: float | None) -> Sequence[Event]:
        usage = _usage(message, self._model)
        name = identifier(message.get("responseId")) or entry
        sighting = self._once.sight(name, usage, ts=ts)
        failed = message.get("stopReason") in _FAILED
        events: list[Event] = []
        if sighting.is_new:
            events.append(
                ModelCall(
                    text=joined_text(message.get("content")) or "",
                    error=failed,
                    ts=ts,
                    usage=reported(sighting.growth),
                    call=CallId.of(name),
                )
            )
        for block in map(mapping, items(message.get("content"))):
            if block.get("type") == "toolCall":
                call = ToolCall(
                    name=text(block.get("name")) or "tool", args=block.get("arguments"), ts=ts, batch=name
                )
                events += self._calls.open(identifier(block.get("id")), call)
        return events


def _usage(message: Mapping[str, Any], model: str | None) -> Usage:
    report = mapping(message.get("usage"))
    usage = usage_named(report, "input", "output", "cacheRead", "cacheWrite")
    usage.model = text(message.get("model")) or model
    usage.cost_usd = dollars(mapping(report.get("cost")).get("total"))
    return usage
