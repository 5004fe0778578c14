"""One sample of an Inspect log: its events as they ended, with the texts that stand elsewhere put in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Call
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
from ebbtide.traces.records.joining import OpenCalls, Seen, with_fields
from ebbtide.traces.records.time_order import TimeOrder
from ebbtide.traces.records.token_classes import TokenClasses, anthropic_classes, disjoint

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
        self._said: list[Call] = []
        self._asked = OpenCalls()
        self._messages = 0
        self._has_events = False
        self._batches: dict[str, str] = {}
        self._order = TimeOrder(_MOST)
        self._texts: dict[str, str] = {}

    def message(self, message: Mapping[str, Any]) -> None:
        """One more message of the conversation that it ended with."""
        if not self._has_events and self._messages < _MOST:
            self._messages += 1
            self._said += self._calls_of(message)

    def attachments(self, texts: Mapping[str, Any]) -> None:
        """Texts that stand apart, by their names."""
        self._texts.update((name, words) for name, words in texts.items() if isinstance(words, str))

    def event(self, event: Mapping[str, Any]) -> Sequence[Call]:
        """The events that need not wait any longer, mostly none."""
        return [done for call in self._calls_in(event, 0) for done in self._order.add(call)]

    def finish(self) -> Sequence[Call]:
        """All that waited, with its texts."""
        found = self._order.finish() if self._has_events else [*self._said, *self._asked.finish()]
        return [self._whole(call) for call in found] if self._texts else found

    def _calls_in(self, event: Mapping[str, Any], depth: int) -> Sequence[Call]:
        kind = event.get("event")
        if not isinstance(kind, str) or event.get("pending") is True:
            return ()
        self._has_events = True
        self._said.clear()
        name = identifier(event.get("uuid"))
        if name is not None and self._seen.before(f"{self.chain} {name}"):
            self.duplicates += 1
            return ()
        # Early versions keep what happens in a tool or a subtask inside of it.
        inner = items(event.get("events")) if depth < _DEEPEST else []
        below = [call for record in inner for call in self._calls_in(mapping(record), depth + 1)]
        if kind == "model":
            return (self._model(event, name),)
        if kind == "tool":
            return (*below, self._tool(event))
        if kind == "sample_init":
            return self._init(event)
        if kind == "compaction":
            return (self._call("condensation", event, kind="system"),)
        if kind == "input":
            return (self._call("message", event, kind="user", text=text(event.get("input"))),)
        if kind == "error":
            what = text(mapping(event.get("error")).get("message"))
            return (self._call("error", event, kind="system", text=what, error=True),)
        return below

    def _call(self, name: str, event: Mapping[str, Any], **fields: Any) -> Call:
        ts = seconds(event.get("completed")) or seconds(event.get("timestamp"))
        return Call(name=name, chain_id=self.chain, ts=ts, **fields)

    def _model(self, event: Mapping[str, Any], name: str | None) -> Call:
        output = mapping(event.get("output"))
        message = mapping(mapping(next(iter(items(output.get("choices"))), None)).get("message"))
        for asked in items(message.get("tool_calls")):
            if (asked_id := identifier(mapping(asked).get("id"))) is not None and name is not None:
                self._batches[asked_id] = name
        # What came from Inspect's own cache was paid for by the call that put it there.
        usage = {} if event.get("cache") == "read" else mapping(output.get("usage"))
        cost = next((told["total_cost"] for told in (usage, output, event) if "total_cost" in told), None)
        return self._call(
            "message",
            event,
            kind="llm",
            text=joined_text(message.get("content")),
            model=text(output.get("model")) or text(event.get("model")),
            error=bool(event.get("error") or output.get("error")),
            cost_usd=dollars(cost),
            **usage_classes(usage),
        )

    def _tool(self, event: Mapping[str, Any]) -> Call:
        problem = event.get("error")
        result = shown(event.get("result"))
        if problem and not result:
            result = text(mapping(problem).get("message")) or problem
        return self._call(
            text(event.get("function")) or "tool",
            event,
            args=arguments(event.get("arguments")),
            result=result,
            error=bool(problem) or event.get("failed") is True,
            batch=self._batches.pop(identifier(event.get("id")) or "", None),
            agent=text(event.get("agent")),
        )

    def _init(self, event: Mapping[str, Any]) -> Sequence[Call]:
        asked = mapping(event.get("sample")).get("input")
        messages = items(asked) or [{"role": "user", "content": asked}]
        said = [
            joined_text(mapping(message).get("content"))
            for message in messages
            if mapping(message).get("role") == "user"
        ]
        return [self._call("message", event, kind="user", text=words) for words in said if words]

    def _calls_of(self, message: Mapping[str, Any]) -> list[Call]:
        role, said = message.get("role"), joined_text(message.get("content"))
        if role == "user":
            return [self._call("message", message, kind="user", text=said)] if said else []
        if role == "assistant":
            model = text(message.get("model"))
            found = [self._call("message", message, kind="llm", text=said, model=model)]
            for asked in map(mapping, items(message.get("tool_calls"))):
                tool, args = text(asked.get("function")) or "tool", arguments(asked.get("arguments"))
                call = self._call(tool, message, args=args, batch=f"message {self._messages}")
                found += self._asked.opened(identifier(asked.get("id")), call)
            return found
        if role != "tool":
            return []
        problem = message.get("error")
        # The first versions named the problem in the message.
        problem = problem if problem is not None else message.get("tool_error")
        result = said or text(mapping(problem).get("message")) or text(problem)
        call = self._call(text(message.get("function")) or "tool", message)
        name = identifier(message.get("tool_call_id"))
        return [*self._asked.closed(name, else_call=call, result=result, error=bool(problem))]

    def _whole(self, call: Call) -> Call:
        """The call with the texts that stand in the attachments."""
        told = {key: getattr(call, key) for key in ("text", "args", "result")}
        whole = {key: found for key, value in told.items() if (found := self._put_in(value, 0)) is not value}
        return with_fields(call, **whole) if whole else call

    def _put_in(self, value: Any, depth: int) -> Any:
        """The value with its texts, or the same object where none of them stands elsewhere."""
        if isinstance(value, str):
            if "://" not in value:
                return value
            put = _ELSEWHERE.sub(lambda found: self._texts.get(found[1], found[0]), value)
            return value if put == value else put
        if depth >= _DEEPEST:
            return value
        if isinstance(value, dict):
            inside = {key: self._put_in(item, depth + 1) for key, item in value.items()}
            return inside if any(inside[key] is not item for key, item in value.items()) else value
        if isinstance(value, list):
            listed = [self._put_in(item, depth + 1) for item in value]
            changed = any(new is not old for new, old in zip(listed, value, strict=True))
            return listed if changed else value
        return value


def usage_classes(usage: Mapping[str, Any]) -> TokenClasses:
    """Classes of a usage; whether its input counts the cached tokens too, its total tells."""
    read, written = usage.get("input_tokens_cache_read"), usage.get("input_tokens_cache_write")
    told = anthropic_classes(
        {**usage, "cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    )
    fresh, output = told.get("input_tokens"), told.get("output_tokens")
    if fresh is None or output is None or not (count(read) or count(written)):
        return told
    if count(usage.get("total_tokens")) != fresh + output:
        return told
    return disjoint(total_input=fresh, output=output, cache_read=read, cache_write=written)
