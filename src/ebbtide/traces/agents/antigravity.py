"""Transcripts of Antigravity: JSON lines of steps with ``step_index``, ``source``, ``type`` and ``status``.

A step ``PLANNER_RESPONSE`` is an answer of the model and names the tools that the model asks for. The steps
after it are their answers, in that order. No step states tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.records.fields import count, identifier, items, mapping, seconds, text
from ebbtide.traces.records.joining import JoiningReader

_REQUEST: Final = ("<USER_REQUEST>", "</USER_REQUEST>")
_MODEL: Final = re.compile(r"`Model Selection` from .{0,80}? to ([^\n]{1,80}?)\.\n")
# Two lines of the clock stand before an answer: equal answers are equal without them.
_CLOCK: Final = re.compile(r"Created At: \S{1,40}+\s{1,8}+(?:Completed At: \S{1,40}+\s{1,8}+)?")
_FAILED: Final = ("ERROR", "FAILED", "CANCELED", "CANCELLED")
_NOTICES: Final = {
    "CHECKPOINT": NoticeKind.COMPACTION,
    "ERROR_MESSAGE": NoticeKind.ERROR,
    "SYSTEM_MESSAGE": NoticeKind.NOTE,
}


class AntigravityReader(JoiningReader):
    """Reads a transcript step by step."""

    def __init__(self) -> None:
        super().__init__()
        self._model: str | None = None

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """Returns the events that this step completes."""
        step = mapping(value)
        kind, ts, words = step.get("type"), seconds(step.get("created_at")), text(step.get("content"))
        if not isinstance(kind, str):
            return ()
        if kind == "USER_INPUT":
            return self._request(words or "", ts)
        if kind == "PLANNER_RESPONSE":
            return self._answer(step, words, ts)
        if (notice := _NOTICES.get(kind)) is not None:
            return (Notice(kind=notice, text=words, error=notice is NoticeKind.ERROR, ts=ts),)
        if step.get("source") != "MODEL":
            return ()
        result = _without_clock((words or "").lstrip())
        failed = step.get("status") in _FAILED or bool(count(step.get("exit_code")))
        unasked = ToolCall(name=kind.lower())
        return self._calls.close(
            self._calls.first_waiting(), else_call=unasked, result=result, error=failed, ts=ts
        )

    def _request(self, words: str, ts: float | None) -> Sequence[Event]:
        if (chosen := _MODEL.search(words)) is not None:
            self._model = chosen[1]
        _, begin, rest = words.partition(_REQUEST[0])
        request = rest.partition(_REQUEST[1])[0].strip("\n") if begin else words
        return (Message(text=request, ts=ts),)

    def _answer(self, step: Mapping[str, Any], words: str | None, ts: float | None) -> Sequence[Event]:
        place, requests = identifier(step.get("step_index")), items(step.get("tool_calls"))
        stop = Stop.CALLS if requests else Stop.END
        events: list[Event] = [
            ModelCall(
                text=words or "",
                error=step.get("status") in _FAILED,
                stop=stop if step.get("status") == "DONE" else None,
                usage=None if self._model is None else Usage(model=self._model),
                ts=ts,
            )
        ]
        for number, request in enumerate(map(mapping, requests)):
            call = ToolCall(
                name=text(request.get("name")) or "tool", args=request.get("args"), ts=ts, batch=place
            )
            events += self._calls.open(f"{place} {number}", call)
        return events


def _without_clock(answer: str) -> str:
    clock = _CLOCK.match(answer)
    return answer if clock is None else answer[clock.end() :]
