"""Sessions of Copilot CLI: JSON lines with ``type`` and ``data``, such as ``assistant.message``.

An answer states its output alone. What was read is stated at ``session.shutdown``, by model, for the whole
session; of several, the last one of each process counts, since a session that is resumed begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage, total
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.fields import count, identifier, mapping, seconds, shown, text
from ebbtide.traces.records.joining import OpenCalls
from ebbtide.traces.records.provider_usage import disjoint_usage, reported

_PLAN: Final = "premium requests"  # a plan pays for requests: their tokens have no price


class CopilotCliReader:
    """Reads a session line by line."""

    def __init__(self) -> None:
        self._calls = OpenCalls()
        self._once = CallsOnce()
        self._stated: dict[str, list[Usage]] = {}

    @property
    def duplicates(self) -> int:
        """Calls and results that were there before."""
        return self._calls.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """Returns the events that this line completes."""
        if not isinstance(value, dict) or not isinstance(kind := value.get("type"), str):
            return ()
        data, ts = mapping(value.get("data")), seconds(value.get("timestamp"))
        chain = identifier(data.get("parentToolCallId")) or ""
        if kind == "user.message":
            words = text(data.get("content"))
            return () if words is None else (Message(text=words, ts=ts, chain_id=chain),)
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
            result: dict[str, Any] = {
                "result": shown(answer.get("content", answer.get("message"))),
                "error": failed,
            }
            if ts is not None:
                result["ts"] = ts
            return self._calls.close(identifier(data.get("toolCallId")), **result)
        if kind == "session.compaction_complete":
            return (Notice(kind=NoticeKind.COMPACTION, ts=ts),)
        if kind == "session.error":
            words = text(data.get("message"))
            return (Notice(kind=NoticeKind.ERROR, text=words, error=True, ts=ts),)
        if kind == "session.shutdown":
            return self._shutdown(data, ts)
        return ()

    def finish(self) -> Sequence[Event]:
        """Returns the calls whose results never came."""
        return self._calls.finish()

    def _answer(self, data: Mapping[str, Any], ts: float | None, chain: str) -> Sequence[Event]:
        name = identifier(data.get("apiCallId")) or identifier(data.get("messageId"))
        output = count(data.get("outputTokens"))
        usage = Usage(model=text(data.get("model")), output_tokens=output, tier=_PLAN)
        sighting = self._once.sight(name, usage, ts=ts)
        if not sighting.is_new:
            return ()
        words = text(data.get("content")) or ""
        # Some versions leave the words out: a message that asks for no tool ends the turn all the same.
        stop = Stop.CALLS if data.get("toolRequests") else Stop.END
        call = CallId.of(name)
        growth = reported(sighting.growth)
        return (ModelCall(text=words, ts=ts, chain_id=chain, usage=growth, call=call, stop=stop),)

    def _shutdown(self, data: Mapping[str, Any], ts: float | None) -> Sequence[Event]:
        for model, metrics in mapping(data.get("modelMetrics")).items():
            report = mapping(mapping(metrics).get("usage"))
            usage = disjoint_usage(
                total_input=report.get("inputTokens"),
                output=report.get("outputTokens"),
                cache_read=report.get("cacheReadTokens"),
                cache_write=report.get("cacheWriteTokens"),
                reasoning=report.get("reasoningTokens"),
            )
            if usage.tokens:
                self._stated.setdefault(model, []).append(usage)
        if not self._stated:
            return ()
        rows = []
        for model, usages in self._stated.items():
            row = total(usages)
            row.model, row.tier = model, _PLAN
            rows.append(row)
        return (Notice(kind=NoticeKind.TOTAL, ts=ts, source="session.shutdown", stated=tuple(rows)),)
