"""Sessions of Kimi Code: the JSON lines of a ``wire.jsonl``, a header of type ``metadata`` first.

A step is one answer of the model: its parts and its calls come before ``step.end``, which states its usage.
A ``usage.record`` repeats that usage, or states what the harness itself asked a model for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage
from ebbtide.traces.records.fields import identifier, joined_text, mapping, seconds, shown, text
from ebbtide.traces.records.joining import JoiningReader
from ebbtide.traces.records.provider_usage import reported, usage_named

_STOPS: Final = {"end_turn": Stop.END, "tool_use": Stop.CALLS, "max_tokens": Stop.LENGTH}


class KimiReader(JoiningReader):
    """Reads a session line by line; the calls of a step are held until the step has ended."""

    def __init__(self) -> None:
        super().__init__()
        self._model: str | None = None
        self._words: list[str] = []
        self._held: list[Event] = []
        self._begun_ts: float | None = None  # when the model had said what it wants
        self._in_step = False
        self._stated: Usage | None = None  # of the last step, until its record comes

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """Returns the events that this line completes."""
        line = mapping(value)
        kind, ts = line.get("type"), seconds(line.get("time"))
        if kind == "context.append_loop_event":
            return self._step(mapping(line.get("event")), ts)
        if kind in ("config.update", "llm.request"):
            self._model = text(line.get("model")) or text(line.get("modelAlias")) or self._model
            return ()
        if kind == "usage.record":
            return self._record(line, ts)
        if kind == "turn.prompt":
            words = joined_text(line.get("input"))
            return (*self._flushed(), *(() if words is None else (Message(text=words, ts=ts),)))
        if kind == "context.append_message":
            return self._injected(mapping(line.get("message")), ts)
        if kind == "context.apply_compaction":
            return (Notice(kind=NoticeKind.COMPACTION, text=text(line.get("summary")), ts=ts),)
        return ()

    def finish(self) -> Sequence[Event]:
        """Returns the step that did not end, and the calls whose results never came."""
        return [*self._flushed(), *self._calls.finish()]

    def _step(self, event: Mapping[str, Any], ts: float | None) -> Sequence[Event]:
        kind = event.get("type")
        if kind == "step.begin":
            events = self._flushed()
            self._in_step = True
            return events
        if kind == "content.part":
            part = mapping(event.get("part"))
            if part.get("type") == "text" and (words := text(part.get("text"))) is not None:
                self._words.append(words)
                self._begun_ts = ts
        elif kind == "tool.call":
            self._begun_ts = self._begun_ts or ts
            call = ToolCall(
                name=text(event.get("name")) or "tool",
                args=event.get("args"),
                ts=ts,
                batch=identifier(event.get("stepUuid")),
            )
            self._held += self._calls.open(identifier(event.get("toolCallId")), call)
        elif kind == "tool.result":
            result = mapping(event.get("result"))
            closed = self._calls.close(
                identifier(event.get("toolCallId")),
                result=shown(result.get("output")),
                error=result.get("isError") is True,
                ts=ts,
            )
            if not self._in_step:
                return closed
            self._held += closed
        elif kind == "step.end":
            self._stated = _usage(event.get("usage"), self._model)
            return self._flushed(event, ts)
        return ()

    def _flushed(self, end: Mapping[str, Any] | None = None, ts: float | None = None) -> list[Event]:
        """The step: its answer, then its calls."""
        end, held, words = mapping(end), self._held, "".join(self._words)
        said = bool(end or held or words)
        events: list[Event] = []
        if said:
            reason = end.get("finishReason")
            events.append(
                ModelCall(
                    text=words,
                    usage=reported(self._stated or Usage(model=self._model)) if end else None,
                    call=CallId.of(identifier(end.get("messageId"))),
                    stop=_STOPS.get(reason) if isinstance(reason, str) else None,
                    ts=self._begun_ts or ts,
                )
            )
        self._held, self._words, self._begun_ts, self._in_step = [], [], None, False
        return [*events, *held]

    def _record(self, line: Mapping[str, Any], ts: float | None) -> Sequence[Event]:
        model = text(line.get("model")) or self._model
        usage, stated = _usage(line.get("usage"), self._model), self._stated
        self._stated = None
        if usage == stated:
            return ()
        usage.model = model
        return (Notice(kind=NoticeKind.USAGE, usage=usage, ts=ts),)

    def _injected(self, message: Mapping[str, Any], ts: float | None) -> Sequence[Event]:
        """A reminder of the harness; prompts of persons stand in ``turn.prompt`` as well."""
        words = joined_text(message.get("content"))
        if mapping(message.get("origin")).get("kind") != "injection" or words is None:
            return ()
        return (Notice(kind=NoticeKind.NOTE, text=words, ts=ts),)


def _usage(report: object, model: str | None) -> Usage:
    usage = usage_named(mapping(report), "inputOther", "output", "inputCacheRead", "inputCacheCreation")
    usage.model = model
    return usage
