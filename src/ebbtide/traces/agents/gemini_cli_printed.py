"""What ``gemini --output-format stream-json`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Call
from ebbtide.traces.records.fields import count, identifier, mapping, seconds, text
from ebbtide.traces.records.joining import OpenCalls
from ebbtide.traces.records.token_classes import disjoint

_FIELDS = {  # that tell a line of this form from one of a chat
    "init": ("session_id", "model"),
    "tool_use": ("tool_name", "tool_id"),
    "tool_result": ("tool_id", "status"),
    "result": ("status", "stats"),
    "message": ("role",),
    "error": ("severity",),
}


def is_printed(value: Mapping[str, Any]) -> bool:
    """Whether a line is of this form."""
    kind = value.get("type")
    return isinstance(kind, str) and kind in _FIELDS and all(name in value for name in _FIELDS[kind])


class PrintedReader:
    """Joins the pieces of answers; the tokens of the whole run come at its end, as an event ``usage``."""

    def __init__(self) -> None:
        self._calls = OpenCalls()
        self._model: str | None = None
        self._texts: list[str] = []
        self._ts: float | None = None
        self._answering = False
        self._answers = 0

    @property
    def duplicates(self) -> int:
        """Calls that were there before."""
        return self._calls.duplicates

    def read(self, value: Mapping[str, Any]) -> Sequence[Call]:
        """The events that this line completes."""
        kind, ts = value["type"], seconds(value.get("timestamp"))
        if kind == "message" and value.get("role") == "assistant":
            self._begin(ts)
            self._texts.append(text(value.get("content")) or "")
            return ()
        if kind == "tool_use":
            self._begin(ts)
            return self._asked(value)
        if kind == "tool_result":
            return [*self._said(), *self._answered(value, ts)]
        said = self._said()
        if kind == "init":
            self._model = text(value.get("model"))
        elif kind == "message":
            said.append(Call(kind="user", name="message", text=text(value.get("content")), ts=ts))
        elif kind == "error":
            said.append(Call(kind="system", name="error", text=text(value.get("message")), error=True, ts=ts))
        elif kind == "result":
            said.append(self._usage(mapping(value.get("stats")), ts))
        return said

    def finish(self) -> Sequence[Call]:
        """What was still open."""
        return [*self._said(), *self._calls.finish()]

    def _begin(self, ts: float | None) -> None:
        if not self._answering:
            self._answering = True
            self._answers += 1
        self._ts = ts

    def _said(self) -> list[Call]:
        """The answer, whole."""
        if not self._answering:
            return []
        said = "".join(self._texts) or None
        self._answering, self._texts = False, []
        return [Call(kind="llm", name="message", text=said, model=self._model, ts=self._ts)]

    def _asked(self, value: Mapping[str, Any]) -> Sequence[Call]:
        call = Call(
            name=text(value.get("tool_name")) or "tool",
            args=value.get("parameters"),
            ts=self._ts,
            batch=f"answer {self._answers}",
        )
        return self._calls.opened(identifier(value.get("tool_id")), call)

    def _answered(self, value: Mapping[str, Any], ts: float | None) -> Sequence[Call]:
        failed = value.get("status") == "error"
        told = text(mapping(value.get("error")).get("message")) if failed else None
        result = told if told is not None else value.get("output")
        return self._calls.closed(identifier(value.get("tool_id")), result=result, error=failed, ts=ts)

    def _usage(self, stats: Mapping[str, Any], ts: float | None) -> Call:
        whole, prompt = count(stats.get("total_tokens")), count(stats.get("input_tokens"))
        # Thoughts are in the total alone.
        output = whole - prompt if whole is not None and prompt is not None else stats.get("output_tokens")
        usage: dict[str, Any] = {
            **disjoint(total_input=prompt, output=output, cache_read=stats.get("cached"))
        }
        return Call(kind="system", name="usage", model=self._model, ts=ts, **usage)
