"""Sessions of OpenCode: what ``opencode export`` and ``opencode run --format json`` print, and its storage.

Messages with ``info`` and ``parts``: a step of a model is what stands between ``step-start`` and
``step-finish``, and its tool calls stand in it with their answers. From its storage a session comes as such
messages, one a line, with those of its sub-sessions: each of these is a chain.

Since some version (1.18 does, 1.0 does not) the usage has a ``total``, and its output is without the
reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import CLASSES, Usage
from ebbtide.traces.records.fields import count, dollars, identifier, items, mapping, seconds, shown, text
from ebbtide.traces.records.joining import Seen
from ebbtide.traces.records.provider_usage import has_spent, reported

_ABORTED = "MessageAbortedError"  # a person ended the answer
_UNAVAILABLE = "invalid"  # the tool that stands for a call that could not be made


@dataclass(slots=True, kw_only=True)
class _Step:
    """A call of a model, as far as its parts have come."""

    texts: list[str] = field(default_factory=list)
    tools: list[Mapping[str, Any]] = field(default_factory=list)
    ts: float | None = None  # of its words
    is_begun: bool = False

    def add(self, part: Mapping[str, Any]) -> None:
        """Take a part of another kind than the end of a step."""
        kind = part.get("type")
        self.is_begun = self.is_begun or kind in ("step-start", "text", "reasoning", "tool")
        if kind == "tool" and text(part.get("tool")):
            self.tools.append(part)
        elif kind in ("text", "reasoning"):
            self.ts = seconds(mapping(part.get("time")).get("end")) or self.ts
            if kind == "text" and (words := text(part.get("text"))):
                self.texts.append(words)

    def events(
        self, usage: Usage, *, batch: str, ts: float | None, call_id: CallId | None = None, **common: Any
    ) -> list[Event]:
        """The call of the model and those of its tools, in the order of their ends.

        Args:
            usage: Its usage.
            batch: What its tool calls have in common.
            ts: When the step was over.
            call_id: The identity of the call.
            common: Other fields of each event.
        """
        starts = [start for tool in self.tools if (start := _time_of(tool, "start")) is not None]
        answered = min(starts, default=self.ts or ts)
        call = ModelCall(
            text="\n\n".join(self.texts), ts=answered, usage=reported(usage), call=call_id, **common
        )
        calls = [_tool_call(tool, batch=batch, **common) for tool in self.tools]
        calls.sort(key=lambda tool: (tool.ts is None, tool.ts or 0.0))
        return [call, *calls]


class OpenCodeReader:
    """Reads messages, or printed parts, one by one."""

    def __init__(self) -> None:
        self._main: str | None = None
        self._messages = Seen()
        self._steps: dict[str, _Step] = {}  # of printed lines, by session
        self._number = 0
        self._repeated = 0

    @property
    def duplicates(self) -> int:
        """Messages that were there before."""
        return self._repeated

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this message, or line, completes."""
        if not isinstance(value, dict):
            return ()
        if "sessionID" in value:
            return self._printed(value)
        info = mapping(value.get("info"))
        speaker, name = info.get("role"), identifier(info.get("id"))
        if speaker not in ("user", "assistant"):
            return ()
        if name is not None and self._messages.before(name):
            self._repeated += 1
            return ()
        parts = [mapping(part) for part in items(value.get("parts"))]
        chain = self._chain(identifier(info.get("sessionID")))
        if speaker == "user":
            return _user_events(parts, chain_id=chain, ts=seconds(mapping(info.get("time")).get("created")))
        return self._answer(info, parts, chain)

    def finish(self) -> Sequence[Event]:
        """Printed steps that have not ended."""
        steps, self._steps = self._steps, {}
        return [
            event
            for session, step in steps.items()
            if step.is_begun
            for event in step.events(
                Usage(), batch=self._batch(), ts=None, chain_id=self._chain(session), agent=None
            )
        ]

    def _chain(self, session: str | None) -> str:
        """The chain of a session: the first one is the run itself."""
        if self._main is None:
            self._main = session
        return "" if session in (None, self._main) else session or ""

    def _batch(self) -> str:
        self._number += 1
        return f"step {self._number}"

    def _answer(
        self, info: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], chain: str
    ) -> Sequence[Event]:
        model = text(info.get("modelID"))
        common: dict[str, Any] = {"chain_id": chain, "agent": text(info.get("agent")) if chain else None}
        ts = seconds(mapping(info.get("time")).get("completed"))
        events: list[Event] = []
        step, is_counted, steps = _Step(), False, 0
        for part in parts:
            kind = part.get("type")
            if kind == "step-finish":
                is_counted = True
                steps += 1
                usage = _usage(part, model)
                call_id = _call_id(info, usage, steps)
                events += step.events(usage, batch=self._batch(), ts=ts, call_id=call_id, **common)
            elif kind == "step-start" and step.is_begun:
                events += step.events(Usage(model=model), batch=self._batch(), ts=ts, **common)
            else:
                step.add(part)
                continue
            step = _Step()
            step.add(part if kind == "step-start" else {})
        # A message that has not ended says 0 of everything.
        whole = _usage(info, model)
        usage = Usage(model=model) if is_counted or not has_spent(whole) else whole
        if step.is_begun or (not is_counted and has_spent(whole)):
            call_id = _call_id(info, usage, 0)
            events += step.events(usage, batch=self._batch(), ts=ts, call_id=call_id, **common)
        return [*events, *_failure(info.get("error"), ts=ts, **common)]

    def _printed(self, line: Mapping[str, Any]) -> Sequence[Event]:
        session, ts = identifier(line.get("sessionID")) or "", seconds(line.get("timestamp"))
        common: dict[str, Any] = {"chain_id": self._chain(session), "agent": None, "ts": ts}
        step, part = self._steps.setdefault(session, _Step()), mapping(line.get("part"))
        if line.get("type") == "error":
            return _failure(line.get("error"), **common)
        if part.get("type") == "step-finish":
            self._steps[session] = _Step()
            return step.events(_usage(part, None), batch=self._batch(), **common)
        step.add(part)
        return ()


def _user_events(parts: Sequence[Mapping[str, Any]], *, chain_id: str, ts: float | None) -> Sequence[Event]:
    """Returns the events of what a person says, and of what the tool puts in beside it."""
    events: list[Event] = []
    texts = []
    for part in parts:
        words = text(part.get("text"))
        if part.get("type") == "compaction":
            events.append(Notice(kind=NoticeKind.COMPACTION, chain_id=chain_id, ts=ts))
        elif part.get("type") == "text" and words is not None:
            if part.get("synthetic") or part.get("ignored"):
                events.append(Notice(kind=NoticeKind.NOTE, text=words, chain_id=chain_id, ts=ts))
            else:
                texts.append(words)
    if texts:
        events.insert(0, Message(text="\n\n".join(texts), chain_id=chain_id, ts=ts))
    return events


def _tool_call(part: Mapping[str, Any], *, batch: str, **common: Any) -> ToolCall:
    state = mapping(part.get("state"))
    name, status = text(part.get("tool")) or "", state.get("status")
    code = mapping(state.get("metadata")).get("exit")
    has_failed = status == "error"
    return ToolCall(
        name=name,
        args=state.get("input"),
        result=shown(state.get("error") if has_failed else state.get("output")),
        error=has_failed or name == _UNAVAILABLE or (type(code) is int and code != 0),
        ts=_time_of(part, "end"),
        batch=batch,
        **common,
    )


def _time_of(part: Mapping[str, Any], name: str) -> float | None:
    """A time of a tool's call: its ``start`` or its ``end``."""
    return seconds(mapping(mapping(part.get("state")).get("time")).get(name))


def _usage(report: Mapping[str, Any], model: str | None) -> Usage:
    """The usage of a step or a message."""
    tokens = mapping(report.get("tokens"))
    cache = mapping(tokens.get("cache"))
    output, reasoning = count(tokens.get("output")), count(tokens.get("reasoning"))
    if output is not None and reasoning is not None and ("total" in tokens or reasoning > output):
        output += reasoning
    usage = Usage(
        model=model,
        input_tokens=count(tokens.get("input")),
        output_tokens=output,
        cache_read_tokens=count(cache.get("read")),
        cache_write_tokens=count(cache.get("write")),
        reasoning_tokens=reasoning,
        cost_usd=dollars(report.get("cost")),
    )
    usage.drop_impossible_parts()
    return usage


def _call_id(info: Mapping[str, Any], usage: Usage, step: int) -> CallId | None:
    """The identity of a call: a fork copies messages under new ids, and keeps their times and tokens."""
    times = mapping(info.get("time"))
    created, completed = times.get("created"), times.get("completed")
    if created is None or completed is None or not has_spent(usage):
        return None
    counts = [getattr(usage, name) for name in CLASSES]
    return CallId.at("opencode", f"{usage.model} {created} {completed} {step} {counts}")


def _failure(error: object, **common: Any) -> Sequence[Event]:
    """Why an answer ended, unless it ended by itself."""
    failure = mapping(error)
    name = text(failure.get("name"))
    words = text(mapping(failure.get("data")).get("message")) or name
    if words is None:
        return ()
    if name == _ABORTED:
        return (Notice(kind=NoticeKind.NOTE, text=words, **common),)
    return (Notice(kind=NoticeKind.ERROR, text=words, error=True, **common),)
