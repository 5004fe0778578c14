"""Events of OpenHands V1, which name their ``kind``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.openhands_events import RunEvents, totals_of
from ebbtide.traces.records.fields import arguments, identifier, joined_text, mapping, shown, text
from ebbtide.traces.records.provider_usage import has_spent, reported
from ebbtide.traces.records.usage_accounts import RunningTotal

_OVER = ("completed", "failed")  # a call that another agent made


class V1Events(RunEvents):
    """Reads the events of one run."""

    def __init__(self, chain: str) -> None:
        super().__init__(chain)
        self._growing: dict[str, RunningTotal] = {}  # by what a model is used for

    def read(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """The events that this one completes."""
        kind = event["kind"]
        if kind == "MessageEvent":
            yield from self._message(event)
        elif kind == "ActionEvent":
            yield from self._action(event)
        elif kind == "ACPToolCallEvent":
            yield from self._foreign(event)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            yield from self._answer(event)
        elif kind.startswith("Condensation") and "Request" not in kind and "Summary" not in kind:
            yield Notice(kind=NoticeKind.COMPACTION, **self.common)
        elif kind == "ConversationErrorEvent":
            words = text(event.get("detail"))
            yield Notice(kind=NoticeKind.ERROR, text=words, error=True, **self.common)
        elif kind == "ConversationStateUpdateEvent":
            value = mapping(event.get("value"))
            stats = value if event.get("key") == "stats" else mapping(value.get("stats"))
            for use, metrics in mapping(stats.get("usage_to_metrics")).items():
                yield from self._usage(mapping(metrics), use)

    def _message(self, event: Mapping[str, Any]) -> Iterator[Event]:
        words, source = joined_text(mapping(event.get("llm_message")).get("content")), event.get("source")
        if source == "agent":
            yield ModelCall(text=words or "", usage=reported(self._grown(event)), **self.common)
        elif words and source == "user":
            yield Message(text=words, **self.common)
        elif words:
            yield Notice(kind=NoticeKind.NOTE, text=words, **self.common)

    def _action(self, event: Mapping[str, Any]) -> Iterator[Event]:
        response = identifier(event.get("llm_response_id"))
        thought = joined_text(event.get("thought"))
        grown = self._grown(event)
        again = response is not None and self._responses.before(response)
        if thought or not again:
            yield ModelCall(text=thought or "", usage=reported(grown), **self.common)
        elif has_spent(grown):
            yield Notice(kind=NoticeKind.USAGE, usage=grown, **self.common)
        request = mapping(event.get("tool_call"))
        action = mapping(event.get("action"))
        args = arguments(request.get("arguments")) if "arguments" in request else None
        if args is None:
            args = {key: value for key, value in action.items() if key != "kind"}
        name = text(event.get("tool_name")) or text(request.get("name")) or text(action.get("kind")) or "tool"
        key = identifier(event.get("tool_call_id")) or identifier(event.get("id"))
        yield from self.calls.open(key, ToolCall(name=name, args=args, batch=response, **self.common))

    def _foreign(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """A call of an agent that OpenHands drives, recorded whenever more is known of it."""
        name = text(event.get("title")) or text(event.get("tool_kind")) or "tool"
        call = ToolCall(name=name, args=event.get("raw_input"), **self.common)
        key, status = identifier(event.get("tool_call_id")), event.get("status")
        if status not in _OVER and event.get("is_error") is not True:
            yield from self.calls.open(key, call)
            return
        result = event.get("raw_output")
        result = result if result is not None else event.get("content")
        failed = status == "failed" or event.get("is_error") is True
        yield from self.calls.close(key, else_call=call, **self.timed(result=result, error=failed))

    def _answer(self, event: Mapping[str, Any]) -> Iterator[Event]:
        observation = mapping(event.get("observation"))
        result: object = event.get("error") or event.get("rejection_reason")
        failed = result is not None
        if result is None:
            result = _result(observation)
            code = observation.get("exit_code", mapping(observation.get("metadata")).get("exit_code"))
            failed = observation.get("is_error") is True or (isinstance(code, int) and code not in (0, -1))
        key = identifier(event.get("tool_call_id")) or identifier(event.get("action_id"))
        call = ToolCall(name=text(event.get("tool_name")) or "tool", **self.common)
        yield from self.calls.close(key, else_call=call, **self.timed(result=result, error=failed))

    def _grown(self, event: Mapping[str, Any]) -> Usage:
        """What the totals that early versions put into their events have grown by."""
        return self._running("").growth(totals_of(mapping(event.get("metrics"))))

    def _usage(self, metrics: Mapping[str, Any], use: str) -> Iterator[Event]:
        grown = self._running(use).growth(totals_of(metrics))
        if has_spent(grown):
            grown.model = text(metrics.get("model_name"))
            yield Notice(kind=NoticeKind.USAGE, usage=grown, **self.common)

    def _running(self, use: str) -> RunningTotal:
        return self._growing.setdefault(use, RunningTotal())


def _result(observation: Mapping[str, Any]) -> object:
    """What was observed: its text where it has some, or all that is recorded of it."""
    for key in ("content", "output"):
        content = observation.get(key)
        if isinstance(content, list) and all(mapping(part).get("type", "text") == "text" for part in content):
            return joined_text(content) or ""
        if content is not None:
            return shown(content)
    return {key: entry for key, entry in observation.items() if key != "kind"} or None
