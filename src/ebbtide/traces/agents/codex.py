"""Sessions of Codex: its rollout files, and what ``codex exec --json`` prints.

Rollout lines with ``type`` and ``payload``, older ones without an envelope, and printed items.

Three records tell of the tokens of a model call: what names a total that was there before is not counted
again. By version they come before, between or after the items of the call, and a message comes as an
event, as an item, or as both. What the tool puts in as the user's words (its environment, instructions)
is a notice. A fork's copy of what was before it counts as a part of it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import CLASSES, Usage
from ebbtide.traces.agents.sniffing import BARE_CODEX_ITEM, CODEX_PRINTED
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.input.record_sign import is_like
from ebbtide.traces.records.codex_thread import TOTALS, CodexThread, codex_tier
from ebbtide.traces.records.fields import (
    arguments,
    count,
    identifier,
    joined_text,
    mapping,
    seconds,
    shown,
    text,
)
from ebbtide.traces.records.injected_words import persons_words
from ebbtide.traces.records.joining import OpenCalls, Seen
from ebbtide.traces.records.provider_usage import openai_usage, reported

# What the tool says in the user's name.
_INJECTED = re.compile(
    r"\s*(?:<(?:environment|user_instructions|user_shell_command|user_action|permissions|turn_aborted|skill"
    r"|INSTRUCTIONS|collaboration|subagent_notification|goal_context|codex_|recommended_|plugins?_|apps_"
    r"|personality_|model_switch|token_budget|hook_)"
    r"|# AGENTS\.md instructions)"
)
_OVER = ("task_complete", "turn_complete")  # events that end a turn
_MOST_TEXTS = 100  # messages of one answer


class CodexReader:
    """Reads a rollout line by line."""

    def __init__(self) -> None:
        self._calls = OpenCalls()
        self._model: str | None = None
        self._tier: object = None
        self._thread = CodexThread()
        self._ts: float | None = None
        self.project: str | None = None  #: the folder it worked in
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
        if self._thread.began is None:
            self._thread.began = self._ts
        kind = value.get("type")
        if is_like(value, BARE_CODEX_ITEM):
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
            self.project = self.project or text(payload.get("cwd"))
            name, source = identifier(payload.get("id")), identifier(payload.get("forked_from_id"))
            if self._thread.enter(name, source, self._ts):
                self._model = self._tier = None
            self._total = Usage()  # what was counted before is no part of its totals
        elif kind == "turn_context":
            self._model = text(payload.get("model")) or self._model
        elif kind == "compacted":
            return [*self._flushed(), Notice(kind=NoticeKind.COMPACTION, ts=self._ts)]
        elif kind == "token_usage_record":
            return self._record(payload)
        return ()

    def finish(self) -> Sequence[Event]:
        """Returns the events that were still open."""
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
            result, failed = outcome(output)
            known: dict[str, Any] = (
                {"result": result} if failed is None else {"result": result, "error": failed}
            )
            return self._calls.close(name, ts=self._ts, **known)
        if not kind.endswith("_call") and kind != "reasoning":
            return ()
        events = self._answering()
        if kind == "reasoning":
            return events
        tool = text(item.get("name")) or kind.removesuffix("_call")
        args = next((item[key] for key in ("arguments", "input", "action", "query") if key in item), None)
        call = ToolCall(name=tool, args=arguments(args), ts=self._ts, batch=f"turn {self._turn}")
        # These have no output line of their own.
        self._answer.stop = Stop.CALLS
        alone = kind in ("web_search_call", "image_generation_call") or item.get("call_id") is None
        return [*events, *self._calls.open(None if alone and kind != "function_call" else name, call)]

    def _message(self, item: Mapping[str, Any]) -> Sequence[Event]:
        words, role = joined_text(item.get("content")), item.get("role")
        if role == "assistant":
            return self._spoken(words, "item", item)
        if words is None:
            return ()
        events = self._flushed()
        if role != "user" or _INJECTED.match(words) or not persons_words(words):
            return [*events, Notice(kind=NoticeKind.NOTE, text=words, ts=self._ts)]
        return [*events, Message(text=persons_words(words), ts=self._ts)]

    def _spoken(self, words: str | None, source: str, record: Mapping[str, Any]) -> Sequence[Event]:
        if words is not None and self._answer.is_twin(words, source):
            return ()
        events = self._answering() if len(self._answer.texts) < _MOST_TEXTS else self._flushed()
        self._answer.begun = True
        if words is not None:
            self._answer.texts.append(words)
        self._answer.stop = Stop.END if record.get("phase") == "final_answer" else None
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
            info, tier = mapping(payload.get("info")), payload.get("service_tier", self._tier)
            return self._tokens(info.get("last_token_usage"), info.get("total_token_usage"), tier)
        if kind == "thread_settings_applied":
            settings = mapping(payload.get("thread_settings"))
            self._tier = settings.get("service_tier", self._tier)
            self._model = text(settings.get("model")) or self._model
            return ()
        if kind == "agent_message":
            return self._spoken(text(payload.get("message")), "event", payload)
        if kind in _OVER and self._answer.begun:
            self._answer.stop = Stop.END
        if kind == "item_completed":
            return self._completed(mapping(payload.get("item")))
        name = identifier(payload.get("call_id"))
        if kind == "exec_command_end" and isinstance(payload.get("exit_code"), int):
            self._calls.amend(name, error=payload["exit_code"] != 0)
        elif (kind == "mcp_tool_call_end" and "Err" in mapping(payload.get("result"))) or (
            kind == "patch_apply_end" and payload.get("success") is False
        ):
            self._calls.amend(name, error=True)
        elif kind == "turn_aborted":
            why = f"turn_aborted: {text(payload.get('reason')) or 'unknown'}"
            return [*self._flushed(), Notice(kind=NoticeKind.OTHER, text=why, ts=self._ts)]
        elif kind == "error":
            words = text(payload.get("message"))
            return [Notice(kind=NoticeKind.ERROR, text=words, error=True, ts=self._ts)]
        return ()

    def _protocol(self, event: Mapping[str, Any]) -> Sequence[Event]:
        """Returns the events of a line of early versions, which report tokens at the end of each answer."""
        self._counted = True
        kind, name = text(event.get("type")) or "", identifier(event.get("call_id"))
        if kind.endswith(BEGIN):
            call = ToolCall(ts=self._ts, batch=f"turn {self._turn}", **call_begun(event))
            return [*self._answering(), *self._calls.open(name, call)]
        if kind.endswith(END):
            return self._calls.close(name, ts=self._ts, **call_ended(event))
        if kind == "session_configured":
            self._model = text(event.get("model")) or self._model
        elif kind == "token_count" and "info" not in event:
            return self._tokens(event, None)
        return self._event(event)

    def _completed(self, item: Mapping[str, Any]) -> Sequence[Event]:
        """Marks the call of an item as failed where the item says so."""
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

    def _tokens(self, last: object, total: object, tier: object = None) -> Sequence[Event]:
        """The model call that used these tokens, unless the total was there before."""
        usage = openai_usage(last)
        if not usage.tokens:
            return ()
        whole = _sum(self._total, usage) if total is None else _sum(Usage(), openai_usage(total))
        name = _name_of(total)
        thread = self._thread.of_count(self._ts)
        self._thread.has_counts = True
        if whole == self._total or self._totals.before(f"{thread} {name or whole!r}"):
            return ()
        rest = None if total is None or not self._total.has_tokens else _rest(whole, self._total, usage)
        self._total = whole
        self._counted = True
        self._turn += 1
        usage.model = self._model
        usage.tier = codex_tier(tier)
        call = None if name is None else CallId.at(thread, name)
        events: list[Event] = [ModelCall(**self._answer.take(), ts=self._ts, usage=usage, call=call)]
        if rest is not None:
            rest.model, rest.tier = usage.model, usage.tier
            call = CallId.at(thread, f"{name} growth")
            events.append(Notice(kind=NoticeKind.USAGE, ts=self._ts, usage=rest, call=call))
        return events

    def _flushed(self) -> Sequence[Event]:
        """The answer whose usage did not come."""
        if not self._answer.begun:
            return ()
        self._turn += 1
        usage = None if self._model is None else Usage(model=self._model)
        return (ModelCall(**self._answer.take(), ts=self._ts, usage=usage),)


def _name_of(total: object) -> str | None:
    """The total of a thread after a call, which no other call of it has; None where none is stated."""
    counts = mapping(total)
    return " ".join(str(count(counts.get(key)) or 0) for key in TOTALS) if counts else None


def _rest(whole: Usage, before: Usage, usage: Usage) -> Usage | None:
    """Returns what a total has grown by beside the call that it is stated with; None where nothing.

    That is of calls that no line reports.
    """
    grown: dict[str, Any] = {}
    for key in CLASSES:
        more = (getattr(whole, key) or 0) - (getattr(before, key) or 0) - (getattr(usage, key) or 0)
        grown[key] = max(0, more)
    return Usage(**grown) if any(grown.values()) else None


def _sum(first: Usage, second: Usage) -> Usage:
    """Both together; what neither reports is 0, so that totals can be compared."""
    sums: dict[str, Any] = {key: (getattr(first, key) or 0) + (getattr(second, key) or 0) for key in CLASSES}
    return Usage(**sums)


_TWINS = 50  # texts of messages that may come a second time


class OpenAnswer:
    """Its messages, as far as they were written down.

    Attributes:
        texts: Its messages.
        begun: Whether there is anything of it.
        acted: Whether results of its calls came already.
        stop: Why the model said no more.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.begun = False
        self.acted = False
        self.stop: Stop | None = None
        self._once: deque[tuple[str, str]] = deque(maxlen=_TWINS)

    def is_twin(self, words: str, source: str) -> bool:
        """True if the same message came from another source, as an event or as an item."""
        for message in self._once:
            if message[0] == words and message[1] != source:
                self._once.remove(message)
                return True
        self._once.append((words, source))
        return False

    def take(self) -> dict[str, Any]:
        """Its text and why it stopped, as fields of `ModelCall`; another answer begins."""
        said = {"text": "\n\n".join(self.texts), "stop": self.stop}
        self.texts, self.begun, self.acted, self.stop = [], False, False, None
        return said


_HEADED = ("Command: ", "Chunk ID: ", "Exit code: ", "Wall time: ", "Script ")
_HEADER_ENDS = re.compile(
    r"^Wall time:? [\d.]+ seconds\n(?:(?:Process|Original|Total|Warning)[^\n]*\n)*Output:\n*",
    re.MULTILINE,
)
_MOST_HEADERS = 2  # a tool inside a tool writes one too
_EXIT_CODE = re.compile(r"^(?:Exit code|Process exited with code):? (-?\d+)$", re.MULTILINE)
# What stands for the output of a call that was not carried out.
_REFUSED = re.compile(
    r"\s*(?:Wall time: [\d.]+ seconds\n)?(?:Script error:|unsupported (?:custom tool )?call"
    r"|apply_patch verification failed|failed to parse|exec_command failed|execution error|error:"
    r"|exec command rejected|patch rejected|aborted by user)"
)


def outcome(output: object) -> tuple[object, bool | None]:
    r"""Returns what an output says, and whether the call failed; None where it does not say.

    It is a text where the output is one.

    The header with the id and the time of the output is left out: equal outputs are equal.

    >>> outcome("Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno such file")
    ('no such file', True)
    """
    failed: bool | None = None
    if isinstance(output, str) and output.startswith('{"output"'):
        with suppress(TranscriptError):
            output = json_value(output)
    if isinstance(output, dict):
        code = mapping(output.get("metadata")).get("exit_code")
        failed = code != 0 if isinstance(code, int) else None
        if output.get("success") is False:
            failed = True
        output = next((output[key] for key in ("output", "content", "body") if key in output), output)
    output = shown(output)
    if not isinstance(output, str):
        return output, failed
    for _ in range(_MOST_HEADERS):
        if not output.startswith(_HEADED) or (header := _HEADER_ENDS.search(output)) is None:
            break
        if match := _EXIT_CODE.search(output[: header.end()]):
            failed = match[1] != "0"
        output = output[header.end() :]
    if failed is None and _REFUSED.match(output):
        failed = True
    return output, failed


_KNOWN = frozenset(
    ("id", "type", "item_type", "status", "aggregated_output", "exit_code", "result", "error", "tool")
)
_RESULTS = ("aggregated_output", "result", "error")
_NO_CALLS = ("reasoning", "todo_list")


def printed_events(value: Mapping[str, Any], *, ts: float | None) -> Sequence[Event]:
    """The events of one printed line.

    An item counts when it is complete. The tokens of a turn come at its end, as a notice of a total.

    Args:
        value: The line.
        ts: Its time, where it has one.
    """
    kind = value.get("type")
    if kind == "turn.completed":
        return [Notice(kind=NoticeKind.TOTAL, ts=ts, usage=reported(openai_usage(value.get("usage"))))]
    if kind in ("turn.failed", "error"):
        return [_error(text(value.get("message")) or text(mapping(value.get("error")).get("message")), ts)]
    item = mapping(value.get("item"))
    form = text(item.get("type")) or text(item.get("item_type"))
    if kind != "item.completed" or form is None or form in _NO_CALLS:
        return ()
    if form == "error":
        return [_error(text(item.get("message")), ts)]
    if form in ("agent_message", "assistant_message"):
        return [ModelCall(text=text(item.get("text")) or "", ts=ts)]
    code = item.get("exit_code")
    failed = item.get("status") == "failed" or bool(item.get("error")) or (code is not None and code != 0)
    results = [item[key] for key in _RESULTS if item.get(key) is not None]
    result = next((result for result in results if result), "" if results else None)
    args: object = {key: entry for key, entry in item.items() if key not in _KNOWN}
    if form == "mcp_tool_call" and "arguments" not in item:
        args = None  # Early versions name the server alone.
    return [ToolCall(name=text(item.get("tool")) or form, args=args, result=result, error=failed, ts=ts)]


def _error(words: str | None, ts: float | None) -> Notice:
    return Notice(kind=NoticeKind.ERROR, text=words, error=True, ts=ts)


BEGIN: Final = "_begin"  #: how the types of events end
END: Final = "_end"
_ABOUT = frozenset(
    ("type", "call_id", "cwd", "parsed_cmd", "auto_approved", "turn_id", "process_id", "source")
)


def call_begun(event: Mapping[str, Any]) -> dict[str, Any]:
    """The name and the arguments of a call, as fields of `ToolCall`."""
    invocation = mapping(event.get("invocation"))
    if invocation:
        args: object = invocation["arguments"] or {} if "arguments" in invocation else None
        return {"name": text(invocation.get("tool")) or "tool", "args": args}
    args = {key: value for key, value in event.items() if key not in _ABOUT}
    return {"name": (text(event.get("type")) or "tool").removesuffix(BEGIN), "args": args}


def call_ended(event: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a call and whether it failed, as fields of `ToolCall`."""
    result = mapping(event.get("result"))
    if result:
        answer = mapping(result.get("Ok"))
        failed = "Err" in result or answer.get("is_error") is True or answer.get("isError") is True
        return {"result": result.get("Err") or shown(answer.get("content")), "error": failed}
    printed = (text(event.get("stdout")) or "") + (text(event.get("stderr")) or "")
    code = event.get("exit_code")
    is_printed = any(isinstance(event.get(key), str) for key in ("aggregated_output", "stdout", "stderr"))
    return {
        "result": text(event.get("aggregated_output")) or printed or ("" if is_printed else None),
        "error": event.get("success") is False or (isinstance(code, int) and code != 0),
    }
