"""Logs of Inspect: one JSON object, or an ``.eval`` archive with the samples in files of their own.

Each sample is a chain, named by its id and epoch: its events, or its messages where it has none.

What the log's statistics count beyond the events is one notice of usage at the end: attempts that were
tried again, and all there is in logs without events.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage, possible_part, total
from ebbtide.traces.agents.sniffing import (
    INSPECT_HEADER,
    INSPECT_SAMPLE,
    INSPECT_SAMPLES,
    INSPECT_STATS,
)
from ebbtide.traces.records.fields import (
    arguments,
    count,
    dollars,
    identifier,
    items,
    joined_text,
    mapping,
    seconds,
    shown,
    text,
)
from ebbtide.traces.records.joining import OpenCalls, Seen
from ebbtide.traces.records.provider_usage import anthropic_usage, disjoint_usage, reported
from ebbtide.traces.records.time_order import TimeOrder
from ebbtide.traces.records.usage_accounts import UsageLedger

# A large sample may be cut: a shell, and chunks that are named by the number of their first item.
_SHELL = "/sample.json"
_CHUNK = re.compile(r"(events|attachments)/(\d+)\.json")


def members(names: Sequence[str]) -> Sequence[str]:
    """The files of an archive to read: the header, and the samples in its order, their parts in their own.

    A log that was gone on with has some names twice; the last file counts.
    """
    files: list[str] = []
    parts: dict[str, list[tuple[bool, int, str]]] = {
        name.removesuffix(_SHELL): [] for name in names if name.endswith(_SHELL)
    }
    for name in dict.fromkeys(names):
        folder = next((above for above in _folders(name) if above in parts), None)
        if folder is None:
            if name == INSPECT_HEADER or INSPECT_SAMPLE.fullmatch(name):
                files.append(name)
        elif name.endswith(_SHELL):
            files.append(name)
        elif chunk := _CHUNK.fullmatch(name, len(folder) + 1):
            parts[folder].append((chunk[1] == "attachments", int(chunk[2]), name))
    whole: list[str] = []
    for name in files:
        whole += [name, *(part for *_, part in sorted(parts.get(name.removesuffix(_SHELL), ())))]
    return whole


class InspectReader:
    """Reads fields of samples one by one."""

    def __init__(self) -> None:
        self._repeated = 0
        self._seen = Seen()
        self._sample = InspectSample("", self._seen)
        self._id = "sample"
        self._attached = 0
        self._ledger = UsageLedger()
        self._stated: Mapping[str, Any] = {}
        self._tokens = 0

    @property
    def duplicates(self) -> int:
        """Events that were there before."""
        return self._repeated + self._sample.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this field completes."""
        field = path.removeprefix(INSPECT_SAMPLES).removeprefix("transcript.")
        if field == "id":
            events = self._finished()
            self._id = identifier(value) or "sample"
            self._sample.chain = self._id
            return events
        if field == "epoch":
            self._sample.chain = f"{self._id}/{identifier(value) or 1}"
        elif field == INSPECT_STATS:
            self._stated = mapping(value)
        elif field in ("attachments", "content"):
            self._sample.attachments(mapping(value))
        elif isinstance(value, str):
            self._sample.attachments({str(self._attached): value})
            self._attached += 1
        elif field == "messages.item":
            self._sample.message(mapping(value))
        else:
            return self._count(self._sample.event(mapping(value)))
        return ()

    def finish(self) -> Sequence[Event]:
        """Returns the events that were still open, and what the statistics have beyond the events."""
        events = list(self._finished())
        reports = [mapping(usage) for usage in self._stated.values()]
        if sum(count(usage.get("total_tokens")) or 0 for usage in reports) > self._tokens:
            events += self._ledger.rest(total(list(map(usage_in, reports))))
        return events

    def _finished(self) -> Sequence[Event]:
        events = self._count(self._sample.finish())
        self._repeated += self._sample.duplicates
        self._sample = InspectSample("", self._seen)
        self._attached = 0
        return events

    def _count(self, events: Sequence[Event]) -> Sequence[Event]:
        for event in events:
            if (usage := self._ledger.add(event).usage) is not None:
                self._tokens += usage.tokens or 0
        return events


def _folders(name: str) -> list[str]:
    """The folders above a file of an archive."""
    parts = name.split("/")
    return ["/".join(parts[:at]) for at in range(1, len(parts))]


_MOST = 100_000  # events that wait for their texts
_DEEPEST = 20
_ELSEWHERE = re.compile(r"(?:attachment|tc)://(\w+)")


class InspectSample:
    """One sample. Its messages come before its events, and count only where there are none.

    Its events wait for its end: long texts stand in its attachments, and a tool in which an agent ran stands
    before the events of that agent.

    Args:
        chain: The chain of its events.
        seen: Ids of the events of all samples.

    Attributes:
        duplicates: Events that were there before.
    """

    def __init__(self, chain: str, seen: Seen) -> None:
        self.chain = chain
        self.duplicates = 0
        self._seen = seen
        self._spoken: list[Event] = []
        self._calls = OpenCalls()
        self._messages = 0
        self._has_events = False
        self._batches: dict[str, str] = {}
        self._order = TimeOrder(_MOST)
        self._texts: dict[str, str] = {}

    def message(self, message: Mapping[str, Any]) -> None:
        """One more message of the conversation that it ended with."""
        if not self._has_events and self._messages < _MOST:
            self._messages += 1
            self._spoken += self._events_of(message)

    def attachments(self, texts: Mapping[str, Any]) -> None:
        """Texts that stand apart, by their names."""
        self._texts.update((name, words) for name, words in texts.items() if isinstance(words, str))

    def event(self, event: Mapping[str, Any]) -> Sequence[Event]:
        """The events that need not wait any longer, mostly none."""
        return self._order.add(self._events_in(event, 0))

    def finish(self) -> Sequence[Event]:
        """All that waited, with its texts."""
        events = self._order.released() if self._has_events else [*self._spoken, *self._calls.finish()]
        return [self._whole(event) for event in events] if self._texts else events

    def _events_in(self, event: Mapping[str, Any], depth: int) -> Sequence[Event]:
        kind = event.get("event")
        if not isinstance(kind, str) or event.get("pending") is True:
            return ()
        self._has_events = True
        self._spoken.clear()
        name = identifier(event.get("uuid"))
        if name is not None and self._seen.before(f"{self.chain} {name}"):
            self.duplicates += 1
            return ()
        # Early versions keep what happens in a tool or a subtask inside of it.
        inner = items(event.get("events")) if depth < _DEEPEST else []
        below = [done for record in inner for done in self._events_in(mapping(record), depth + 1)]
        if kind == "model":
            return (self._model(event, name),)
        if kind == "tool":
            return (*below, self._tool(event))
        if kind == "sample_init":
            return self._init(event)
        if kind == "compaction":
            return (Notice(kind=NoticeKind.COMPACTION, **self._common(event)),)
        if kind == "input":
            return (Message(text=text(event.get("input")), **self._common(event)),)
        if kind == "error":
            what = text(mapping(event.get("error")).get("message"))
            return (Notice(kind=NoticeKind.ERROR, text=what, error=True, **self._common(event)),)
        return below

    def _common(self, record: Mapping[str, Any]) -> dict[str, Any]:
        ts = seconds(record.get("completed")) or seconds(record.get("timestamp"))
        return {"chain_id": self.chain, "ts": ts}

    def _model(self, event: Mapping[str, Any], name: str | None) -> ModelCall:
        output = mapping(event.get("output"))
        message = mapping(mapping(next(iter(items(output.get("choices"))), None)).get("message"))
        for request in items(message.get("tool_calls")):
            if (call_id := identifier(mapping(request).get("id"))) is not None and name is not None:
                self._batches[call_id] = name
        # What came from Inspect's own cache was paid for by the call that put it there.
        report = {} if event.get("cache") == "read" else mapping(output.get("usage"))
        cost = next((place["total_cost"] for place in (report, output, event) if "total_cost" in place), None)
        usage = usage_in(report)
        usage.model = text(output.get("model")) or text(event.get("model"))
        usage.cost_usd = dollars(cost)
        return ModelCall(
            text=joined_text(message.get("content")) or ("" if message else None),
            error=bool(event.get("error") or output.get("error")),
            usage=reported(usage),
            **self._common(event),
        )

    def _tool(self, event: Mapping[str, Any]) -> ToolCall:
        problem = event.get("error")
        result = shown(event.get("result"))
        if problem and not result:
            result = text(mapping(problem).get("message")) or problem
        return ToolCall(
            name=text(event.get("function")) or "tool",
            args=arguments(event.get("arguments")),
            result=result,
            error=bool(problem) or event.get("failed") is True,
            batch=self._batches.pop(identifier(event.get("id")) or "", None),
            agent=text(event.get("agent")),
            **self._common(event),
        )

    def _init(self, event: Mapping[str, Any]) -> Sequence[Event]:
        task = mapping(event.get("sample")).get("input")
        messages = items(task) or [{"role": "user", "content": task}]
        texts = [
            joined_text(mapping(message).get("content"))
            for message in messages
            if mapping(message).get("role") == "user"
        ]
        return [Message(text=words, **self._common(event)) for words in texts if words]

    def _events_of(self, message: Mapping[str, Any]) -> list[Event]:
        role, words = message.get("role"), joined_text(message.get("content"))
        common = self._common(message)
        if role == "user":
            return [Message(text=words, **common)] if words else []
        if role == "assistant":
            usage = reported(Usage(model=text(message.get("model"))))
            events: list[Event] = [ModelCall(text=words or "", usage=usage, **common)]
            for request in map(mapping, items(message.get("tool_calls"))):
                call = ToolCall(
                    name=text(request.get("function")) or "tool",
                    args=arguments(request.get("arguments")),
                    batch=f"message {self._messages}",
                    **common,
                )
                events += self._calls.open(identifier(request.get("id")), call)
            return events
        if role != "tool":
            return []
        problem = message.get("error")
        # The first versions named the problem in the message.
        problem = problem if problem is not None else message.get("tool_error")
        result = words or text(mapping(problem).get("message")) or text(problem) or ""
        call = ToolCall(name=text(message.get("function")) or "tool", **common)
        name = identifier(message.get("tool_call_id"))
        return [*self._calls.close(name, else_call=call, result=result, error=bool(problem))]

    def _whole(self, event: Event) -> Event:
        """The event with the texts that stand in the attachments."""
        for key in ("text", "args", "result"):
            value = getattr(event, key, None)
            if (whole := self._put_in(value, 0)) is not value:
                setattr(event, key, whole)
        return event

    def _put_in(self, value: Any, depth: int) -> Any:
        """The value with its texts, or the same object where none of them stands elsewhere."""
        if isinstance(value, str):
            if "://" not in value:
                return value
            put = _ELSEWHERE.sub(lambda match: self._texts.get(match[1], match[0]), value)
            return value if put == value else put
        if depth >= _DEEPEST:
            return value
        if isinstance(value, dict):
            inside = {key: self._put_in(item, depth + 1) for key, item in value.items()}
            return inside if any(inside[key] is not item for key, item in value.items()) else value
        if isinstance(value, list):
            entries = [self._put_in(item, depth + 1) for item in value]
            changed = any(new is not old for new, old in zip(entries, value, strict=True))
            return entries if changed else value
        return value


def usage_in(report: Mapping[str, Any]) -> Usage:
    """A usage that Inspect reports; its total shows whether its input counts the cached tokens too."""
    cached, stored = report.get("input_tokens_cache_read"), report.get("input_tokens_cache_write")
    usage = anthropic_usage(
        {**report, "cache_read_input_tokens": cached, "cache_creation_input_tokens": stored}
    )
    fresh, output = usage.input_tokens, usage.output_tokens
    if fresh is not None and output is not None and (count(cached) or count(stored)):
        whole = count(report.get("total_tokens"))
        if whole == fresh + output:
            usage = disjoint_usage(total_input=fresh, output=output, cache_read=cached, cache_write=stored)
    usage.reasoning_tokens = possible_part(count(report.get("reasoning_tokens")), usage.output_tokens)
    usage.cost_usd = dollars(report.get("total_cost"))
    return usage
