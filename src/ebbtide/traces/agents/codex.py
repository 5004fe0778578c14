"""Sessions of Codex: its rollout files, and what ``codex exec --json`` prints.

Rollout lines with ``type`` and ``payload``, older ones without an envelope, and printed items.

Three records tell of the tokens of a model call: what names a total that was there before is not counted
again. By version they come before, between or after the items of the call, and a message comes as an
event, as an item, or as both. What the tool puts in as the user's words (its environment, instructions)
is a notice. A fork's copy of what was before it counts as a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import CLASSES, Usage
from ebbtide.traces.agents.codex_answer import OpenAnswer
from ebbtide.traces.agents.codex_outputs import outcome
from ebbtide.traces.agents.codex_printed import printed_events
from ebbtide.traces.agents.codex_protocol import BEGIN, END, call_begun, call_ended
from ebbtide.traces.agents.session_sniffing import CODEX_PRINTED, is_bare_codex_item
from ebbtide.traces.records.fields import (
    arguments,
    identifier,
    joined_text,
    mapping,
    seconds,
    text,
)
from ebbtide.traces.records.joining import OpenCalls, Seen
from ebbtide.traces.records.provider_usage import openai_usage

# What the tool says in the user's name.
_INJECTED = re.compile(
    r"\s*(?:<(?:environment|user_instructions|user_shell_command|user_action|permissions|turn_aborted|skill"
    r"|INSTRUCTIONS|collaboration|subagent_notification|goal_context|codex_|recommended_|plugins?_|apps_"
    r"|personality_|model_switch|token_budget|hook_)"
    r"|# AGENTS\.md instructions)"
)
_MOST_TEXTS = 100  # messages of one answer


class CodexReader:
    """Reads a rollout line by line."""

    def __init__(self) -> None:
        self._calls = OpenCalls()
        self._model: str | None = None
        self._ts: float | None = None
        self._answer = OpenAnswer()
        self._turn = 0
        self._total = Usage()
        self._totals = Seen()
        self._records = Seen()
        self._counted = False
        self._marked = False  # lines between the answers tell where one ends
        self._repeated = 0

    @property
    def duplicates(self) -> int:
        """Calls and records of usage that were there before."""
        return self._calls.duplicates + self._repeated

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this line completes."""
        if not isinstance(value, dict):
            return ()
        self._ts = seconds(value.get("timestamp")) or self._ts
        kind = value.get("type")
        if is_bare_codex_item(value):
            return self._item(value)
        if "record_type" in value:
            self._marked, self._answer.acted = True, self._answer.begun
            return ()
        if isinstance(event := value.get("msg"), dict):
            return self._protocol(event)
        if isinstance(value.get("prompt"), str):
            return [Message(text=value["prompt"], ts=self._ts)]
        if "workdir" in value:
            self._model = text(value.get("model"))
            return ()
        if kind in CODEX_PRINTED:
            return printed_events(value, ts=self._ts)
        payload = mapping(value.get("payload"))
        if kind == "response_item":
            return self._item(payload)
        if kind == "event_msg":
            return self._event(payload)
        if kind == "session_meta":
            self._totals = Seen()
        elif kind == "turn_context":
            self._model = text(payload.get("model")) or self._model
        elif kind == "compacted":
            return [*self._flushed(), Notice(kind=NoticeKind.COMPACTION, ts=self._ts)]
        elif kind == "token_usage_record":
            return self._record(payload)
        return ()

    def finish(self) -> Sequence[Event]:
        """What was still open."""
        return [*self._flushed(), *self._calls.finish()]

    def _item(self, item: Mapping[str, Any]) -> Sequence[Event]:
        kind = item.get("type")
        if not isinstance(kind, str):
            return ()
        if kind == "message":
            return self._message(item)
        name = identifier(item.get("call_id")) or identifier(item.get("id"))
        if kind.endswith("_output"):
            self._answer.acted = self._answer.acted or not self._marked
            output = item.get("output", item.get("tools"))
            return self._calls.close(name, **self._result(output))
        if not kind.endswith("_call") and kind != "reasoning":
            return ()
        events = self._answering()
        if kind == "reasoning":
            return events
        tool = text(item.get("name")) or kind.removesuffix("_call")
        args = next((item[key] for key in ("arguments", "input", "action", "query") if key in item), None)
        call = ToolCall(name=tool, args=arguments(args), ts=self._ts, batch=f"turn {self._turn}")
        # These have no output line of their own.
        alone = kind in ("web_search_call", "image_generation_call") or item.get("call_id") is None
        return [*events, *self._calls.open(None if alone and kind != "function_call" else name, call)]

    def _message(self, item: Mapping[str, Any]) -> Sequence[Event]:
        words, role = joined_text(item.get("content")), item.get("role")
        if role == "assistant":
            return self._spoken(words, "item")
        if words is None:
            return ()
        events = self._flushed()
        if role != "user" or _INJECTED.match(words):
            return [*events, Notice(kind=NoticeKind.NOTE, text=words, ts=self._ts)]
        return [*events, Message(text=words, ts=self._ts)]

    def _spoken(self, words: str | None, source: str) -> Sequence[Event]:
        if words is not None and self._answer.is_twin(words, source):
            return ()
        events = self._answering() if len(self._answer.texts) < _MOST_TEXTS else self._flushed()
        self._answer.begun = True
        if words is not None:
            self._answer.texts.append(words)
        return events

    def _answering(self) -> Sequence[Event]:
        """Another piece of an answer of the model; the answer before that calls were made of is over."""
        events = self._flushed() if self._answer.acted else ()
        self._answer.acted = False
        # Where usage is reported, an answer is what has some; early versions write it before the items.
        self._answer.begun = self._answer.begun or not self._counted
        return events

    def _event(self, payload: Mapping[str, Any]) -> Sequence[Event]:
        kind = payload.get("type")
        if kind == "token_count":
            info = mapping(payload.get("info"))
            return self._tokens(info.get("last_token_usage"), info.get("total_token_usage"))
        if kind == "agent_message":
            return self._spoken(text(payload.get("message")), "event")
        if kind == "item_completed":
            return self._completed(mapping(payload.get("item")))
        name = identifier(payload.get("call_id"))
        if kind == "exec_command_end" and isinstance(payload.get("exit_code"), int):
            self._calls.amend(name, error=payload["exit_code"] != 0)
        elif (kind == "mcp_tool_call_end" and "Err" in mapping(payload.get("result"))) or (
            kind == "patch_apply_end" and payload.get("success") is False
        ):
            self._calls.amend(name, error=True)
        elif kind == "error":
            words = text(payload.get("message"))
            return [Notice(kind=NoticeKind.ERROR, text=words, error=True, ts=self._ts)]
        return ()

    def _protocol(self, event: Mapping[str, Any]) -> Sequence[Event]:
        """What early versions print: they report tokens at the end of each answer."""
        self._counted = True
        kind, name = text(event.get("type")) or "", identifier(event.get("call_id"))
        if kind.endswith(BEGIN):
            call = ToolCall(ts=self._ts, batch=f"turn {self._turn}", **call_begun(event))
            return [*self._answering(), *self._calls.open(name, call)]
        if kind.endswith(END):
            return self._calls.close(name, **self._timed(call_ended(event)))
        if kind == "session_configured":
            self._model = text(event.get("model")) or self._model
        elif kind == "token_count" and "info" not in event:
            return self._tokens(event, None)
        return self._event(event)

    def _completed(self, item: Mapping[str, Any]) -> Sequence[Event]:
        """What is known of an item beyond its call and its output."""
        code = item.get("exit_code")
        if item.get("status") == "failed" or item.get("error") or (isinstance(code, int) and code != 0):
            self._calls.amend(identifier(item.get("id")), error=True)
        return ()

    def _record(self, payload: Mapping[str, Any]) -> Sequence[Event]:
        response = identifier(payload.get("response_id"))
        if response is not None and self._records.before(response):
            self._repeated += 1
            return ()
        return self._tokens(payload.get("usage"), payload.get("thread_token_usage"))

    def _tokens(self, last: object, total: object) -> Sequence[Event]:
        """The model call that used these tokens, unless the total was there before."""
        usage = openai_usage(last)
        if not usage.tokens:
            return ()
        whole = _sum(self._total, usage) if total is None else _sum(Usage(), openai_usage(total))
        if whole == self._total or self._totals.before(repr(whole)):
            return ()
        self._total = whole
        self._counted = True
        self._turn += 1
        usage.model = self._model
        return [ModelCall(text=self._answer.take(), ts=self._ts, usage=usage)]

    def _result(self, output: object) -> dict[str, Any]:
        """What an output says: its text, and whether it failed, as far as it tells."""
        result, failed = outcome(output)
        return self._timed({"result": result} if failed is None else {"result": result, "error": failed})

    def _timed(self, fields: dict[str, Any]) -> dict[str, Any]:
        return fields if self._ts is None else {**fields, "ts": self._ts}

    def _flushed(self) -> Sequence[Event]:
        """The answer whose usage did not come."""
        if not self._answer.begun:
            return ()
        self._turn += 1
        usage = None if self._model is None else Usage(model=self._model)
        return (ModelCall(text=self._answer.take(), ts=self._ts, usage=usage),)


def _sum(first: Usage, second: Usage) -> Usage:
    """Both together; what neither reports is 0, so that totals can be compared."""
    sums: dict[str, Any] = {key: (getattr(first, key) or 0) + (getattr(second, key) or 0) for key in CLASSES}
    return Usage(**sums)
