"""Chats of Gemini CLI: a JSON object with messages, JSON lines of messages and patches, or printed lines.

Messages of the types ``user``, ``gemini``, ``info`` and ``error``; tool calls stand in their message.

JSON lines write a message again when more is known of it: the last one counts. A rewind is a
notice; what was rewound has happened, and stays. Older versions put the calls of several answers
into one message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.sniffing import PRINTED_GEMINI_LINE
from ebbtide.traces.input.record_sign import is_like
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.fields import count, identifier, items, mapping, seconds, text
from ebbtide.traces.records.joining import JoiningReader, Seen
from ebbtide.traces.records.provider_usage import disjoint_usage, has_spent, reported

_OPEN = ("executing", "scheduled", "validating", "awaiting_approval", "pending")
_FAILED = ("error", "cancelled", "canceled")
_PROCESS = re.compile(r"^Process Group PGID: \d+\n?", re.MULTILINE)
_ANSWERED = ("tokens", "model", "toolCalls", "thoughts")
_INJECTED = ("<session_context>", "<state_snapshot>", "<hook_context>")  # what the tool says as the user


class GeminiCliReader:
    """Reads messages one by one; the latest is held until another one comes.

    Args:
        calls: The calls of the session in files that other readers read; None where there are none.
    """

    def __init__(self, calls: CallsOnce | None = None) -> None:
        self._repeated = 0
        self._printed = PrintedReader()
        self._held: dict[str, Any] | None = None
        self._once = CallsOnce() if calls is None else calls
        self._given = Seen()

    @property
    def duplicates(self) -> int:
        """Messages and calls that were there before."""
        return self._repeated + self._printed.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events of the messages that are complete with this line."""
        if not isinstance(value, dict):
            return ()
        if is_like(value, PRINTED_GEMINI_LINE):
            return self._printed.read(value)
        if isinstance(patch := value.get("$set"), dict):
            return [event for message in items(patch.get("messages")) for event in self._taken(message)]
        if "$rewindTo" in value:
            return [*self._flushed(), Notice(kind=NoticeKind.REWIND)]
        return self._taken(value)

    def finish(self) -> Sequence[Event]:
        """Returns the events that were still open."""
        return [*self._flushed(), *self._printed.finish()]

    def _flushed(self) -> Sequence[Event]:
        latest, self._held = self._held, None
        return self._events(latest) if latest is not None else ()

    def _taken(self, message: object) -> Sequence[Event]:
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            return ()
        latest, self._held = self._held, message
        if latest is None:
            return ()
        if message.get("id") is not None and latest.get("id") == message["id"]:
            self._held = {**latest, **{key: value for key, value in message.items() if value is not None}}
            return ()
        return self._events(latest)

    def _events(self, message: Mapping[str, Any]) -> Sequence[Event]:
        kind, name = message.get("type"), identifier(message.get("id"))
        ts, words = seconds(message.get("timestamp")), _text(message.get("content"))
        first = name is None or not self._given.before(f"message {name}")
        # What the tool says in the name of the model, about a summary, says nothing of tokens.
        if kind == "gemini" and not message.keys().isdisjoint(_ANSWERED):
            return self._model_call(message, name, ts=ts, words=(words or "") if first else None, first=first)
        if not first:
            self._repeated += 1
            return ()
        if words is None:
            return ()
        if kind == "user" and not words.lstrip().startswith(_INJECTED):
            return (Message(text=words, ts=ts),)
        if kind == "error":
            return (Notice(kind=NoticeKind.ERROR, text=words, ts=ts, error=True),)
        return (Notice(kind=NoticeKind.NOTE, text=words, ts=ts),)

    def _model_call(
        self,
        message: Mapping[str, Any],
        name: str | None,
        *,
        ts: float | None,
        words: str | None,
        first: bool,
    ) -> Sequence[Event]:
        usage = self._once.sight(name, _usage(message.get("tokens")), ts=ts).growth
        events: list[Event] = []
        if first or has_spent(usage):
            usage.model = text(message.get("model"))
            events.append(ModelCall(text=words, ts=ts, usage=reported(usage)))
        calls = (self._tool_call(mapping(entry), name, ts) for entry in items(message.get("toolCalls")))
        events.extend(call for call in calls if call is not None)
        return events

    def _tool_call(self, entry: Mapping[str, Any], batch: str | None, ts: float | None) -> ToolCall | None:
        tool, call_id, status = text(entry.get("name")), identifier(entry.get("id")), entry.get("status")
        if tool is None:
            return None
        if call_id is not None and self._given.before(f"call {call_id}"):
            self._repeated += 1
            return None
        result, failed = _result(entry)
        at = seconds(entry.get("timestamp"))
        return ToolCall(
            name=tool,
            args=entry.get("args"),
            result=None if status in _OPEN else result,
            error=failed or status in _FAILED,
            ts=at or ts,
            # The calls of one answer are written down at once.
            batch=None if batch is None and at is None else f"{batch} {at}",
        )


def _usage(tokens: object) -> Usage:
    """Tokens by class; what tools put into the prompt is input, and thoughts are output."""
    counts = mapping(tokens)
    return disjoint_usage(
        total_input=_sum(counts.get("input"), counts.get("tool")),
        output=_sum(counts.get("output"), counts.get("thoughts")),
        cache_read=counts.get("cached"),
        reasoning=counts.get("thoughts"),
    )


def _sum(*values: object) -> int | None:
    numbers = [number for value in values if (number := count(value)) is not None]
    return sum(numbers) if numbers else None


def _text(content: object) -> str | None:
    if isinstance(content, str):
        return content or None
    parts = content if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else text(mapping(part).get("text")) for part in parts]
    return "\n\n".join(words for words in texts if words) or None


def _result(entry: Mapping[str, Any]) -> tuple[object, bool]:
    """Returns what a call gave, and whether that is an error."""
    result = entry.get("result")
    responses = [
        mapping(mapping(mapping(part).get("functionResponse")).get("response")) for part in items(result)
    ]
    responses = [response for response in responses if response]
    if not responses:
        shown = result or entry.get("resultDisplay")
        return ("" if shown is None and "result" in entry else shown), False
    outputs = [
        _lasting(next((response[key] for key in ("output", "error") if key in response), response))
        for response in responses
    ]
    failed = any("error" in response and "output" not in response for response in responses)
    return (outputs[0] if len(outputs) == 1 else outputs), failed


def _lasting(output: object) -> object:
    """An output without the number of the process that gave it: equal outputs are equal."""
    return _PROCESS.sub("", output) if isinstance(output, str) else output


class PrintedReader(JoiningReader):
    """Joins the pieces of answers; the tokens of the whole run come at its end, as a notice of usage."""

    def __init__(self) -> None:
        super().__init__()
        self._model: str | None = None
        self._texts: list[str] = []
        self._ts: float | None = None
        self._answering = False
        self._answers = 0

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
        """Returns the events that were still open."""
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
