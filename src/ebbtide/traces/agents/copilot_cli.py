"""Sessions of Copilot CLI: JSON lines with ``type`` and ``data``, such as ``assistant.message``.

Newer versions state each call in a ``session.usage_record`` ahead of its answer; older answers state their
output alone. ``session.shutdown`` states the tokens of each model for the whole session; of several, the last
one of each process counts, since a session that is resumed begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage, total
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.fields import count, identifier, mapping, seconds, shown, text
from ebbtide.traces.records.joining import JoiningReader
from ebbtide.traces.records.provider_usage import disjoint_usage, reported

_PLAN: Final = "premium requests"  # a plan pays for requests: their tokens have no price


class CopilotCliReader(JoiningReader):
    """Reads a session line by line."""

    def __init__(self) -> None:
        super().__init__()
        self._once = CallsOnce()
        self._stated: dict[str, list[Usage]] = {}
        self._recorded: dict[str, Usage] = {}  # of calls whose answers are still to come
        self._own_key: set[str] = set()  # models that a person's own key pays for, by the token

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """Returns the events that this line completes."""
        if not isinstance(value, dict) or not isinstance(kind := value.get("type"), str):
            return ()
        data, ts = mapping(value.get("data")), seconds(value.get("timestamp"))
        chain = identifier(data.get("parentToolCallId")) or ""
        if kind == "user.message":
            words = text(data.get("content"))
            return () if words is None else (Message(text=words, ts=ts, chain_id=chain),)
        if kind == "session.usage_record":
            self._record(mapping(data.get("usage")))
            return ()
        if kind == "assistant.message":
            return self._answer(data, ts, chain)
        if kind == "tool.execution_start":
            call = ToolCall(
                name=text(data.get("toolName")) or "tool",
                args=data.get("arguments"),
                ts=ts,
                chain_id=chain,
                batch=identifier(data.get("turnId")),
            )
            return self._calls.open(identifier(data.get("toolCallId")), call)
        if kind == "tool.execution_complete":
            failed = data.get("success") is False
            answer = mapping(data.get("error" if failed and "error" in data else "result"))
            result = shown(answer.get("content", answer.get("message")))
            number = identifier(data.get("toolCallId"))
            return self._calls.close(number, result=result, error=failed, ts=ts)
        if kind == "session.compaction_complete":
            return (Notice(kind=NoticeKind.COMPACTION, ts=ts),)
        if kind == "session.error":
            words = text(data.get("message"))
            return (Notice(kind=NoticeKind.ERROR, text=words, error=True, ts=ts),)
        if kind == "session.shutdown":
            return [*self._without_answers(ts), *self._shutdown(data, ts)]
        return ()

    def finish(self) -> Sequence[Event]:
        """Returns the calls whose results or answers never came."""
        return [*super().finish(), *self._without_answers(None)]

    def _record(self, report: Mapping[str, Any]) -> None:
        """Keep the usage of a call for its answer."""
        name, model = identifier(report.get("apiCallId")), text(report.get("model"))
        if name is None:
            return
        usage = _usage_of(report)
        usage.model, usage.tier = model, None if report.get("isByok") is True else _PLAN
        if usage.tier is None and model is not None:
            self._own_key.add(model)
        self._recorded[name] = usage

    def _without_answers(self, ts: float | None) -> list[Event]:
        """Returns the recorded calls that no message answered, such as those of a compaction."""
        calls = [call for name, usage in self._recorded.items() for call in self._call(name, usage, ts)]
        self._recorded.clear()
        return calls

    def _call(
        self,
        name: str | None,
        usage: Usage,
        ts: float | None,
        *,
        words: str = "",
        chain: str = "",
        stop: Stop | None = None,
    ) -> Sequence[Event]:
        """Returns a call of the model, and nothing for a call that was there before."""
        sighting = self._once.sight(name, usage, ts=ts)
        if not sighting.is_new:
            return ()
        growth, call = reported(sighting.growth), CallId.of(name)
        return (ModelCall(text=words, ts=ts, chain_id=chain, usage=growth, call=call, stop=stop),)

    def _answer(self, data: Mapping[str, Any], ts: float | None, chain: str) -> Sequence[Event]:
        name = identifier(data.get("apiCallId")) or identifier(data.get("messageId"))
        usage = self._recorded.pop(name or "", None)
        if usage is None:
            output = count(data.get("outputTokens"))
            usage = Usage(model=text(data.get("model")), output_tokens=output, tier=_PLAN)
        # Some versions leave the words out: a message that asks for no tool ends the turn all the same.
        stop = Stop.CALLS if data.get("toolRequests") else Stop.END
        return self._call(name, usage, ts, words=text(data.get("content")) or "", chain=chain, stop=stop)

    def _shutdown(self, data: Mapping[str, Any], ts: float | None) -> Sequence[Event]:
        for model, metrics in mapping(data.get("modelMetrics")).items():
            usage = _usage_of(mapping(mapping(metrics).get("usage")))
            if usage.tokens:
                self._stated.setdefault(model, []).append(usage)
        if not self._stated:
            return ()
        rows = []
        for model, usages in self._stated.items():
            row = total(usages)
            row.model, row.tier = model, None if model in self._own_key else _PLAN
            rows.append(row)
        return (Notice(kind=NoticeKind.TOTAL, ts=ts, source="session.shutdown", stated=tuple(rows)),)


def _usage_of(report: Mapping[str, Any]) -> Usage:
    return disjoint_usage(
        total_input=report.get("inputTokens"),
        output=report.get("outputTokens"),
        cache_read=report.get("cacheReadTokens"),
        cache_write=report.get("cacheWriteTokens"),
        reasoning=report.get("reasoningTokens"),
    )
