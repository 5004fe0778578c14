"""AutoGen: typed messages of teams (0.4 and later), and conversations of named experts (before).

Messages with ``source`` and ``type``, or conversations of messages with ``name``.

Of the saved state of a team its thread of messages counts, or else what its models were sent. Source:
AutoGen 0.2 and 0.4, Who&When.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, ModelCall, ModelPart, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.chats.chat_events import ChatEvents
from ebbtide.traces.chats.openai_messages import run_name
from ebbtide.traces.chats.sniffing import (
    AUTOGEN_EXECUTION,
    AUTOGEN_EXIT,
    AUTOGEN_LISTS,
    AUTOGEN_MESSAGES,
    AUTOGEN_REQUEST,
    AUTOGEN_SAME,
    history_of,
    is_autogen_state,
    is_group,
    speaker_of,
)
from ebbtide.traces.input.document import shape
from ebbtide.traces.records.fields import count, dollars, items, joined_text, mapping, seconds, text
from ebbtide.traces.records.joining import Seen
from ebbtide.traces.records.provider_usage import has_spent
from ebbtide.traces.records.usage_accounts import UsageLedger

# What model clients exchange, as the saved state of an agent holds it.
_CONTEXT = frozenset(("UserMessage", "SystemMessage", "AssistantMessage", "FunctionExecutionResultMessage"))
_UNSIGNED = _CONTEXT | {AUTOGEN_REQUEST, AUTOGEN_EXECUTION}  # Some leave out who it was.
_DEEPEST = 6


class AutogenReader:
    """Reads messages of either form."""

    def __init__(self) -> None:
        self._repeated = 0
        self._talk = ChatEvents()
        self._loose = Group()
        self._code: str | None = None
        self._seen = Seen()
        self._runs = 0

    @property
    def duplicates(self) -> int:
        """Messages and results that were there before."""
        return self._repeated + self._talk.duplicates + self._loose.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this record completes.

        Raises:
            TranscriptError: It is no object.
        """
        if not isinstance(value, dict | list):
            raise TranscriptError(f"expected a message, found {shape(value)}")
        return self._read(value, path, 0)

    def finish(self) -> Sequence[Event]:
        """The calls whose results never came."""
        return [*self._talk.finish(), *self._loose.finish()]

    def _read(self, value: Any, path: str, depth: int) -> list[Event]:
        events: list[Event] = []
        if depth > _DEEPEST:
            return events
        if isinstance(value, list):
            for item in value:
                events += self._read(item, path, depth + 1)
        elif isinstance(value, dict):
            if isinstance(value.get("type"), str) and ("source" in value or value["type"] in _UNSIGNED):
                events += self._typed(value)
            elif is_group(value):
                events += self._group(value, path)
            elif isinstance(value.get("role"), str):
                events += self._loose.add(value)
            elif is_autogen_state(value):
                for messages in _lists_at("message_thread", value) or _lists_at("llm_context", value):
                    events += self._read(messages, path, depth + 1)
            else:
                for key in AUTOGEN_LISTS:
                    events += self._read(value.get(key), path, depth + 1)
        return events

    def _typed(self, value: Mapping[str, Any]) -> Sequence[Event]:
        number = text(value.get("id"))
        if number is not None and self._seen.before(number):
            self._repeated += 1
            return ()
        kind = AUTOGEN_SAME.get(str(value.get("type")), str(value.get("type")))
        source = text(value.get("source"))
        report = mapping(value.get("models_usage"))
        usage = Usage(
            input_tokens=count(report.get("prompt_tokens")),
            output_tokens=count(report.get("completion_tokens")),
        )
        fields: dict[str, Any] = {"agent": source}
        if (ts := seconds(value.get("created_at"))) is not None:
            fields["ts"] = ts
        if kind == "AssistantMessage" and isinstance(value.get("content"), list):
            kind = AUTOGEN_REQUEST
        if kind == AUTOGEN_REQUEST:
            calls = [{**mapping(call), "id": mapping(call).get("id")} for call in items(value.get("content"))]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
            return self._talk.add(message, **fields, usage=usage)
        if kind == AUTOGEN_EXECUTION:
            return self._executed(items(value.get("content")), fields)
        if kind == "CodeGenerationEvent":
            self._code = code_in(text(value.get("content")) or "")
            return self._talk.add(
                {"role": "assistant", "content": value.get("content")}, **fields, usage=usage
            )
        if kind == "CodeExecutionEvent":
            result = mapping(value.get("result"))
            failed = result.get("exit_code") not in (0, None)
            output = result.get("output")
            return [ToolCall(name="execute_code", args=self._code, result=output, error=failed, **fields)]
        if kind == "ThoughtEvent":
            words = text(value.get("content"))
            return [ModelCall(part=ModelPart.THOUGHT, text=words, **fields)]
        if kind not in AUTOGEN_MESSAGES and kind not in _CONTEXT:
            return _spent(fields, usage)
        content = value.get("content")
        words = (
            joined_text(content) if isinstance(content, str | list) else (str(dict(mapping(content))) or None)
        )
        if kind == "SystemMessage":
            return self._talk.add({"role": "system", "content": words}, **fields)
        if kind == "UserMessage" or (source == "user" and not report):
            return self._talk.add({"role": "user", "content": words}, **fields)
        if kind == "HandoffMessage":
            target = text(value.get("target"))
            handoff = Notice(kind=NoticeKind.HANDOFF, text=words, source=source, target=target, **fields)
            return [handoff, *_spent(fields, usage)]
        if kind == "ToolCallSummaryMessage" and not report:
            return ()  # The results again, as one text.
        return self._talk.add({"role": "assistant", "content": words}, **fields, usage=usage)

    def _executed(self, results: list[Any], fields: Mapping[str, Any]) -> list[Event]:
        events: list[Event] = []
        for result in map(mapping, results):
            message = {
                "role": "tool",
                "tool_call_id": result.get("call_id"),
                "name": result.get("name"),
                "content": result.get("content"),
                "is_error": result.get("is_error"),
            }
            events += self._talk.add(message, **fields)
        return events

    def _group(self, value: Mapping[str, Any], path: str) -> list[Event]:
        self._runs += 1
        group = Group(run_name(self._runs, path))
        events: list[Event] = []
        for message in map(mapping, history_of(value)):
            events += group.add(message)
        return events + group.finish(value.get("cost"))


def _spent(fields: Mapping[str, Any], usage: Usage) -> list[Event]:
    """Usage of an event that says nothing, as of a memory's or a selector's."""
    return [ModelCall(usage=usage, **fields)] if has_spent(usage) else []


def _lists_at(name: str, value: Any, depth: int = 0) -> list[list[Any]]:
    """The lists of messages at a key, however deep in a state."""
    lists: list[list[Any]] = []
    if not isinstance(value, dict) or depth > _DEEPEST:
        return lists
    for key, inner in value.items():
        if key == name:
            lists.append(items(inner) or items(mapping(inner).get("messages")))
        else:
            lists += _lists_at(name, inner, depth + 1)
    return [messages for messages in lists if messages]


_NO_CODE = re.compile(r"\s*There is no code from the last \d+ messages? for me to execute")
_CODE = re.compile(r"```[ \t]*+(?:(\w+)[ \t]*+)?\r?\n(.*?)\n?[ \t]{0,99}```", re.DOTALL)
_USERS = ("human", "user")


class Group:
    """Reads the messages of one conversation, one by one.

    Code that an executor ran is a call of ``execute_code``: the blocks of the message before, and what came
    out.

    Args:
        chain_id: The chain of its events.
    """

    def __init__(self, chain_id: str = "") -> None:
        self._chain = chain_id
        self._talk = ChatEvents(chain_id)
        self._ledger = UsageLedger()
        self._code: str | None = None

    @property
    def duplicates(self) -> int:
        """Results of calls that were answered before."""
        return self._talk.duplicates

    def add(self, message: Mapping[str, Any]) -> list[Event]:
        """The events that one more message completes."""
        words, name, role = joined_text(message.get("content")), speaker_of(message), message.get("role")
        if role in ("tool", "function"):
            return self._count(self._talk.add(message))
        if message.get("tool_calls") or message.get("function_call"):
            return self._count(self._talk.add({**message, "role": "assistant", "name": name}))
        ran = (AUTOGEN_EXIT.match(words) or _NO_CODE.match(words)) if words else None
        if ran:
            failed = ran.re is _NO_CODE or ran[2] == "failed"
            call = ToolCall(
                name="execute_code",
                args=self._code,
                result=words,
                error=failed,
                agent=name,
                chain_id=self._chain,
            )
            return [call]
        if not words:
            return []
        asks = name.lower() in _USERS if name else role != "assistant"
        self._code = code_in(words)
        spoken = {**message, "role": "user" if asks else "assistant", "content": words, "name": name}
        return self._count(self._talk.add(spoken))

    def finish(self, cost: object = None) -> list[Event]:
        """The calls whose results never came, and what the whole took beyond the messages.

        Args:
            cost: What the result of a chat says of it.
        """
        events = self._count(self._talk.finish())
        report = mapping(mapping(cost).get("usage_excluding_cached_inference"))
        if isinstance(cost, list) and cost:
            report = mapping(cost[-1])  # In the first versions it stands behind what was cached.
        models = [usage for usage in report.values() if isinstance(usage, dict)]
        if models:
            totals = Usage(
                input_tokens=sum(count(usage.get("prompt_tokens")) or 0 for usage in models),
                output_tokens=sum(count(usage.get("completion_tokens")) or 0 for usage in models),
                cost_usd=dollars(report.get("total_cost")),
            )
            events += self._ledger.rest(totals, chain_id=self._chain)
        return events

    def _count(self, events: list[Event]) -> list[Event]:
        return [self._ledger.add(event) for event in events]


def code_in(words: str) -> str | None:
    """The blocks of code in a message."""
    return "\n\n".join(block[1] for block in _CODE.findall(words)) or None
