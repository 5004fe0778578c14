"""What ``gemini --output-format stream-json`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.records.fields import count, identifier, mapping, seconds, text
from ebbtide.traces.records.joining import OpenCalls
from ebbtide.traces.records.provider_usage import disjoint_usage, reported


class PrintedReader:
    """Joins the pieces of answers; the tokens of the whole run come at its end, as a notice of usage."""

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

    def read(self, value: Mapping[str, Any]) -> Sequence[Event]:
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
            return [*self._flushed(), *self._answered(value, ts)]
        events = self._flushed()
        if kind == "init":
            self._model = text(value.get("model"))
        elif kind == "message":
            events.append(Message(text=text(value.get("content")), ts=ts))
        elif kind == "error":
            events.append(Notice(kind=NoticeKind.ERROR, text=text(value.get("message")), error=True, ts=ts))
        elif kind == "result":
            events.append(self._usage(mapping(value.get("stats")), ts))
        return events

    def finish(self) -> Sequence[Event]:
        """What was still open."""
        return [*self._flushed(), *self._calls.finish()]

    def _begin(self, ts: float | None) -> None:
        if not self._answering:
            self._answering = True
            self._answers += 1
        self._ts = ts

    def _flushed(self) -> list[Event]:
        """The answer, whole."""
        if not self._answering:
            return []
        words = "".join(self._texts)
        self._answering, self._texts = False, []
        usage = None if self._model is None else Usage(model=self._model)
        return [ModelCall(text=words, usage=usage, ts=self._ts)]

    def _asked(self, value: Mapping[str, Any]) -> Sequence[Event]:
        call = ToolCall(
            name=text(value.get("tool_name")) or "tool",
            args=value.get("parameters"),
            ts=self._ts,
            batch=f"answer {self._answers}",
        )
        return self._calls.open(identifier(value.get("tool_id")), call)

    def _answered(self, value: Mapping[str, Any], ts: float | None) -> Sequence[Event]:
        failed = value.get("status") == "error"
        reason = text(mapping(value.get("error")).get("message")) if failed else None
        result = reason if reason is not None else value.get("output")
        return self._calls.close(identifier(value.get("tool_id")), result=result, error=failed, ts=ts)

    def _usage(self, stats: Mapping[str, Any], ts: float | None) -> Notice:
        whole, prompt = count(stats.get("total_tokens")), count(stats.get("input_tokens"))
        # Thoughts are in the total alone.
        output = whole - prompt if whole is not None and prompt is not None else stats.get("output_tokens")
        usage = disjoint_usage(total_input=prompt, output=output, cache_read=stats.get("cached"))
        usage.model = self._model
        return Notice(kind=NoticeKind.TOTAL, ts=ts, usage=reported(usage))
