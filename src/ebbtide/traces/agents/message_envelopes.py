"""Sessions of agents that keep the messages of a model's interface, each in an envelope of their own.

Inside stand Anthropic's blocks or the messages of a chat; around them the agent writes times, models, usage
and its own records. A reader here takes the message out, and `ChatEvents` makes events of it.

- Droid: lines of type ``message`` after one of type ``session_start``, and what ``droid exec`` prints.
- Cursor: lines with ``role`` and ``message``. No line states a time; answers of tools are mostly left out.
- Goose: lines with ``role``, ``created`` and parts, a session that it exported, or the rows of its database.
- Grok Build: ``chat_history.jsonl``, whose lines have the role as their type. No line states a time.
- Hermes: ``session_*.json``, lines after one of role ``session_meta``, or the rows of its database.
- Kiro CLI: lines with ``kind`` and ``data``, or turns with ``user`` and ``assistant`` in one ``history``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbtide.events.event import Event, ModelCall, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.usage import CLASSES, Usage, rows_by_model
from ebbtide.traces.chats.chat_events import ChatEvents
from ebbtide.traces.records.fields import (
    count,
    dollars,
    from_json,
    items,
    joined_text,
    mapping,
    seconds,
    shown,
    text,
)
from ebbtide.traces.records.provider_usage import disjoint_usage, usage_named

_Message = Mapping[str, Any]


class EnvelopeReader:
    """Reads a session record by record.

    Attributes:
        title: Name that the agent gave the session; empty where it has none.
        project: The folder that the agent worked in; None where no record has it.
        model: The model of the answers that do not name theirs; None where it is not known.
    """

    def __init__(self) -> None:
        self._talk = ChatEvents()
        self.title = ""
        self.project: str | None = None
        self.model: str | None = None

    @property
    def duplicates(self) -> int:
        """Results of calls that were answered before."""
        return self._talk.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """Returns the events that this record completes."""
        # What stands beside the messages of one JSON value comes alone, under its name.
        record = {path: value} if path and not path.endswith("item") else mapping(value)
        return self._events(record)

    def finish(self) -> Sequence[Event]:
        """Returns the calls whose results never came."""
        return self._talk.finish()

    def _events(self, record: _Message) -> Sequence[Event]:
        raise NotImplementedError

    def _said(self, message: _Message, ts: float | None, usage: Usage | None = None) -> list[Event]:
        """Returns the events of a message, or of an item of a response."""
        self._talk.model = self.model
        return self._talk.add(message, ts=ts, usage=usage)


def _note(words: str | None, ts: float | None) -> list[Event]:
    """Returns a note of words that the harness said in the name of the person."""
    return [] if words is None else [Notice(kind=NoticeKind.NOTE, text=words, ts=ts)]


def _asked(number: object, name: object, args: object) -> _Message:
    return {"type": "function_call", "call_id": number, "name": name, "arguments": args}


def _answered(number: object, output: object, *, failed: bool) -> _Message:
    status = "failed" if failed else "completed"
    return {"type": "function_call_output", "call_id": number, "output": output, "status": status}


class DroidReader(EnvelopeReader):
    """Reads a session of Droid; no line of it states tokens."""

    def __init__(self) -> None:
        super().__init__()
        self._last: str | None = None  # words of the last answer, which the end of a printed run repeats

    def _events(self, record: _Message) -> Sequence[Event]:
        kind, ts = record.get("type"), seconds(record.get("timestamp"))
        if kind in ("session_start", "system"):
            self.title = text(record.get("sessionTitle")) or text(record.get("title")) or self.title
            self.project = text(record.get("cwd")) or self.project
            self.model = text(record.get("model")) or self.model
        elif kind == "message":
            message = mapping(record.get("message")) or {**record, "content": record.get("text")}
            if message.get("role") == "assistant":
                self._last = joined_text(message.get("content"))
            return self._said(message, ts)
        elif kind == "tool_call":
            number = record.get("toolCallId", record.get("id"))
            return self._said(_asked(number, record.get("toolName"), record.get("parameters")), ts)
        elif kind == "tool_result":
            value = record.get("value", record.get("error"))
            failed = record.get("isError") is True or bool(count(mapping(value).get("exitCode")))
            number = record.get("toolCallId", record.get("id"))
            return self._said(_answered(number, value, failed=failed), ts)
        elif kind == "completion" and (words := text(record.get("finalText"))) not in (None, self._last):
            return self._said({"role": "assistant", "content": words}, ts)
        elif kind == "compaction_state":
            return (Notice(kind=NoticeKind.COMPACTION, ts=ts),)
        elif kind == "error":
            words = text(record.get("message"))
            return (Notice(kind=NoticeKind.ERROR, text=words, error=True, ts=ts),)
        return ()


class CursorReader(EnvelopeReader):
    """Reads a transcript of Cursor; an answer is held until it is known whether its turn ended."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[Event] = []

    def finish(self) -> Sequence[Event]:
        """Returns the last answer, and the calls whose results never came."""
        return [*self._held, *super().finish()]

    def _events(self, record: _Message) -> Sequence[Event]:
        held = self._held
        if record.get("type") == "turn_ended":
            self._held = []
            return self._ended(held, record)
        message = mapping(record.get("message"))
        if not isinstance(record.get("role"), str) or "content" not in message:
            return ()
        self._held = self._said({**message, "role": record["role"]}, None)
        return held

    def _ended(self, held: list[Event], record: _Message) -> list[Event]:
        status, calls = text(record.get("status")), self._talk.finish()
        if status != "success":
            words = text(record.get("error")) or f"the turn ended: {status or 'no status'}"
            return [*held, *calls, Notice(kind=NoticeKind.ERROR, text=words, error=True)]
        for event in held:
            if isinstance(event, ModelCall):
                event.stop = Stop.END
        return [*held, *calls]


class GooseReader(EnvelopeReader):
    """Reads a session of Goose; its head states the tokens of the whole session."""

    def __init__(self) -> None:
        super().__init__()
        self._stated: dict[str, Any] = {}

    def finish(self) -> Sequence[Event]:
        """Returns the calls whose results never came, and what the session states that all of it took."""
        stated, self._stated = self._stated, {}
        if not stated:
            return super().finish()
        usage = _goose_usage(stated, "accumulated_")
        usage.cost_usd = dollars(stated.get("accumulated_cost"))
        usage.model = self.model
        return [*super().finish(), Notice(kind=NoticeKind.TOTAL, source="session", stated=(usage,))]

    def _events(self, record: _Message) -> Sequence[Event]:
        role, ts = record.get("role"), seconds(record.get("created"))
        if "usage_ledger" in record:
            return self._spent(mapping(record["usage_ledger"]))
        if not isinstance(role, str):
            self._head(record)
            return ()
        parts = [self._part(mapping(part)) for part in items(record.get("content"))]
        if mapping(record.get("metadata")).get("userVisible") is False:
            return _note(joined_text(parts), ts)
        return self._said({"role": role, "content": parts}, ts)

    def _head(self, record: _Message) -> None:
        self.project = text(record.get("working_dir")) or self.project
        self.title = text(record.get("description")) or text(record.get("name")) or self.title
        self.model = text(mapping(record.get("model_config")).get("model_name")) or self.model
        self._stated |= {key: record[key] for key in _STATED if dollars(record.get(key))}

    def _spent(self, row: _Message) -> Sequence[Event]:
        """Returns what a call of a model took, as the ledger in the database of Goose has it."""
        usage = _goose_usage(row, "")
        usage.model, usage.cost_usd = text(row.get("model")) or self.model, dollars(row.get("cost"))
        return (Notice(kind=NoticeKind.USAGE, usage=usage, ts=seconds(row.get("created_timestamp"))),)

    @staticmethod
    def _part(part: _Message) -> _Message:
        """A part as a block of Anthropic's interface."""
        kind, number = part.get("type"), part.get("id")
        if kind in ("toolRequest", "frontendToolRequest"):
            call = mapping(part.get("toolCall"))
            asked = mapping(call.get("value"))
            # A call that could not be read has no name; its answer says what was wrong.
            name = asked.get("name") or "tool"
            return {"type": "tool_use", "id": number, "name": name, "input": asked.get("arguments")}
        if kind == "toolResponse":
            result = mapping(part.get("toolResult"))
            value = result.get("value", result.get("error"))
            failed = result.get("status") == "error" or mapping(value).get("isError") is True
            content = shown(mapping(value).get("content", value))
            return {"type": "tool_result", "tool_use_id": number, "content": content, "is_error": failed}
        return part


_STATED: Final = (
    *("accumulated_input_tokens", "accumulated_output_tokens", "accumulated_cost"),
    *("accumulated_cache_read_tokens", "accumulated_cache_write_tokens"),
)


def _goose_usage(row: _Message, prefix: str) -> Usage:
    return disjoint_usage(
        total_input=row.get(f"{prefix}input_tokens"),
        output=row.get(f"{prefix}output_tokens"),
        cache_read=row.get(f"{prefix}cache_read_tokens"),
        cache_write=row.get(f"{prefix}cache_write_tokens"),
    )


class GrokReader(EnvelopeReader):
    """Reads a session of Grok Build."""

    def _events(self, record: _Message) -> Sequence[Event]:
        kind, content = record.get("type"), record.get("content")
        if kind == "user" and record.get("synthetic_reason") not in (None, "interjection"):
            return _note(joined_text(content), None)
        if kind in ("system", "user", "assistant"):
            return self._said({**record, "role": kind, "model": record.get("model_id")}, None)
        if kind == "tool_result":
            return self._said({**record, "role": "tool", "status": _status(record)}, None)
        if (
            kind == "backend_tool_call"
        ):  # of the provider, before the answer of the model that it is a part of
            call = mapping(record.get("kind"))
            failed = call.get("status") == "failed"
            name = text(call.get("tool_type")) or "tool"
            return (ToolCall(name=name, args=call.get("action"), error=failed),)
        return ()


def _status(record: _Message) -> object:
    return "error" if record.get("is_error") is True else record.get("status")


class HermesReader(EnvelopeReader):
    """Reads a session of Hermes, whose messages are those of OpenAI's interface.

    In its database the head states the tokens of the whole session.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stated: tuple[Usage, ...] = ()

    def finish(self) -> Sequence[Event]:
        """Returns the calls whose results never came, and what the session states that all of it took."""
        stated, self._stated = self._stated, ()
        total = [Notice(kind=NoticeKind.TOTAL, source="session", stated=stated)] if stated else []
        return [*super().finish(), *total]

    def _events(self, record: _Message) -> Sequence[Event]:
        role, ts = record.get("role"), seconds(record.get("timestamp"))
        if role in (None, "session_meta"):
            self._head(record)
            return ()
        if role == "compaction":
            return (Notice(kind=NoticeKind.COMPACTION, ts=ts),)
        if role == "note":
            return _note(joined_text(record.get("content")), ts)
        if role == "tool" and _has_failed(record.get("content")):
            record = {**record, "status": "error"}
        return self._said(record, ts)

    def _head(self, record: _Message) -> None:
        self.model = text(record.get("model")) or self.model
        self.title = text(record.get("title")) or self.title
        place = text(record.get("cwd")) or text(mapping(record.get("model_config")).get("cwd"))
        self.project = place or self.project
        usages = []
        for row in map(mapping, items(record.get("spent"))):
            usage = usage_named(row, *CLASSES, "reasoning_tokens")
            usage.model, usage.cost_usd = text(row.get("model")), dollars(row.get("actual_cost_usd"))
            usages.append(usage)
        spent = [usage for usage in usages if usage.tokens or usage.cost_usd]
        self._stated = rows_by_model(spent) or self._stated


def _has_failed(content: object) -> bool:
    """Returns True if the answer of a tool says so: it is an object with a code, a flag or an error."""
    answer = mapping(from_json(content))
    code = answer.get("exit_code")
    if type(code) is int or isinstance(answer.get("success"), bool):
        return code not in (None, 0) or answer.get("success") is False
    return text(answer.get("error")) is not None


class KiroReader(EnvelopeReader):
    """Reads a session of Kiro CLI: its lines, or the turns of the form that its database has."""

    def _events(self, record: _Message) -> Sequence[Event]:
        data = mapping(record.get("data"))
        if "kind" in record:
            parts = [self._part(mapping(part)) for part in items(data.get("content"))]
            role = "assistant" if record["kind"] == "AssistantMessage" else "user"
            ts = seconds(mapping(data.get("meta")).get("timestamp"))
            return self._said({"role": role, "content": parts}, ts) if parts else ()
        user, notes = mapping(record.get("user")), mapping(record.get("request_metadata"))
        self.model = text(notes.get("model_id")) or self.model
        state = mapping(mapping(user.get("env_context")).get("env_state"))
        self.project = self.project or text(state.get("current_working_directory"))
        asked = self._said(
            {"role": "user", "content": self._heard(mapping(user.get("content")))},
            seconds(user.get("timestamp")),
        )
        return [*asked, *self._answer(mapping(record.get("assistant")), notes)]

    def _answer(self, answer: _Message, notes: _Message) -> list[Event]:
        said = mapping(answer.get("Response")) or mapping(answer.get("ToolUse"))
        if not said:
            return []
        calls = [
            {"type": "tool_use", "id": use.get("id"), "name": use.get("name"), "input": use.get("args")}
            for use in map(mapping, items(said.get("tool_uses")))
        ]
        words = {"type": "text", "text": said.get("content")}
        ts = seconds(notes.get("stream_end_timestamp_ms"))
        return self._said({"role": "assistant", "content": [words, *calls]}, ts)

    @staticmethod
    def _heard(content: _Message) -> list[_Message]:
        prompt = text(mapping(content.get("Prompt")).get("prompt"))
        results = [
            mapping(result)
            for key in ("ToolUseResults", "CancelledToolUses")
            for result in items(mapping(content.get(key)).get("tool_use_results"))
        ]
        words: list[_Message] = [] if prompt is None else [{"type": "text", "text": prompt}]
        return words + [_result(result, "tool_use_id") for result in results]

    @staticmethod
    def _part(part: _Message) -> _Message:
        kind, data = part.get("kind"), part.get("data")
        if kind == "toolUse":
            use = mapping(data)
            return {
                "type": "tool_use",
                "id": use.get("toolUseId"),
                "name": use.get("name"),
                "input": use.get("input"),
            }
        return _result(mapping(data), "toolUseId") if kind == "toolResult" else {"type": kind, "text": data}


_FAILED: Final = ("error", "cancelled")


def _result(result: _Message, number: str) -> _Message:
    """A result of a tool of Kiro's as a block of Anthropic's interface."""
    values = [
        mapping(part).get("data", mapping(part).get("Text", mapping(part).get("Json")))
        for part in items(result.get("content"))
    ]
    content = values[0] if len(values) == 1 else shown(values)
    failed = (text(result.get("status")) or "").lower() in _FAILED
    return {"type": "tool_result", "tool_use_id": result.get(number), "content": content, "is_error": failed}
