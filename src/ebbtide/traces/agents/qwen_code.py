"""Sessions of Qwen Code: JSON lines of the types ``user``, ``assistant``, ``tool_result`` and ``system``.

A message has ``parts``, as those of Gemini's interface do: texts, thoughts, calls and their answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.fields import identifier, items, mapping, seconds, text
from ebbtide.traces.records.joining import JoiningReader
from ebbtide.traces.records.provider_usage import has_spent, reported, usage_by_keys

_INJECTED: Final = "<qwen:"  # begins what the harness adds to a prompt
_NOTICES: Final = {
    "chat_compression": NoticeKind.COMPACTION,
    "notification": NoticeKind.NOTE,
    "rewind": NoticeKind.REWIND,
}
_FAILED: Final = ("error", "cancelled", "canceled")


class QwenCodeReader(JoiningReader):
    """Reads a session line by line."""

    def __init__(self) -> None:
        super().__init__()
        self._once = CallsOnce()

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """Returns the events that this line completes."""
        line = mapping(value)
        kind, ts = line.get("type"), seconds(line.get("timestamp"))
        parts = [mapping(part) for part in items(mapping(line.get("message")).get("parts"))]
        if kind == "assistant":
            return self._answer(line, parts, ts)
        if kind == "tool_result":
            return self._results(line, parts, ts)
        words = _words(part for part in parts if not (text(part.get("text")) or "").startswith(_INJECTED))
        if (notice := _NOTICES.get(str(line.get("subtype")))) is not None:
            return (Notice(kind=notice, text=words, ts=ts),)
        if kind != "user" or words is None:
            return ()
        return (Message(text=words, ts=ts),)

    def _answer(
        self, line: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], ts: float | None
    ) -> Sequence[Event]:
        name = identifier(line.get("uuid"))
        # A report in which every count is zero is none: an answer takes tokens.
        usage = usage_by_keys(line.get("usageMetadata"))
        usage = usage if has_spent(usage) else Usage()
        usage.model = text(line.get("model"))
        sighting = self._once.sight(name, usage, ts=ts)
        if not sighting.is_new:
            return ()
        requests = [mapping(part["functionCall"]) for part in parts if "functionCall" in part]
        events: list[Event] = [
            ModelCall(
                text=_words(part for part in parts if part.get("thought") is not True) or "",
                usage=reported(sighting.growth),
                stop=Stop.CALLS if requests else Stop.END,
                ts=ts,
            )
        ]
        for request in requests:
            call = ToolCall(
                name=text(request.get("name")) or "tool", args=request.get("args"), ts=ts, batch=name
            )
            events += self._calls.open(identifier(request.get("id")), call)
        return events

    def _results(
        self, line: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], ts: float | None
    ) -> Sequence[Event]:
        failed = mapping(line.get("toolCallResult")).get("status") in _FAILED
        events: list[Event] = []
        for answer in (mapping(part["functionResponse"]) for part in parts if "functionResponse" in part):
            response = mapping(answer.get("response"))
            words = next((response[key] for key in ("output", "error") if key in response), response)
            error = failed or ("error" in response and "output" not in response)
            events += self._calls.close(identifier(answer.get("id")), result=words, error=error, ts=ts)
        return events


def _words(parts: Any) -> str | None:
    return "\n\n".join(words for part in parts if (words := text(part.get("text"))) is not None) or None
