"""Events of OpenHands V1, which name their ``kind``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ebbtide.events.event import Call
from ebbtide.traces.agents.openhands_events import RunEvents, totals_of
from ebbtide.traces.records.accounts import Running
from ebbtide.traces.records.fields import arguments, identifier, items, joined_text, mapping, shown, text

KINDS: Final = frozenset(
    (
        "ActionEvent",
        "ObservationEvent",
        "MessageEvent",
        "AgentErrorEvent",
        "SystemPromptEvent",
        "Condensation",
        "ConversationStateUpdateEvent",
        "ConversationErrorEvent",
        "UserRejectObservation",
        "CondensationSummaryEvent",
        "PauseEvent",
        "ACPToolCallEvent",
        "HookExecutionEvent",
        "LLMCompletionLogEvent",
        "StreamingDeltaEvent",
        "TokenEvent",
    )
)
_OVER = ("completed", "failed")  # a call that another agent made


class V1Events(RunEvents):
    """Reads the events of one run."""

    def __init__(self, chain: str) -> None:
        super().__init__(chain)
        self._growing: dict[str, Running] = {}  # by what a model is used for

    def read(self, event: Mapping[str, Any]) -> Iterator[Call]:
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
            yield self.call("condensation", kind="system")
        elif kind == "ConversationErrorEvent":
            yield self.call("error", kind="system", text=text(event.get("detail")), error=True)
        elif kind == "ConversationStateUpdateEvent":
            value = mapping(event.get("value"))
            stats = value if event.get("key") == "stats" else mapping(value.get("stats"))
            for use, metrics in mapping(stats.get("usage_to_metrics")).items():
                yield from self._usage(mapping(metrics), use)

    def _message(self, event: Mapping[str, Any]) -> Iterator[Call]:
        said = joined_text(mapping(event.get("llm_message")).get("content"))
        spoken = {"user": "user", "agent": "llm"}.get(text(event.get("source")) or "", "system")
        if spoken == "llm":
            yield self.call("message", kind="llm", text=said, **self._grown(event))
        elif said:
            yield self.call("message" if spoken == "user" else "note", kind=spoken, text=said)

    def _action(self, event: Mapping[str, Any]) -> Iterator[Call]:
        response = identifier(event.get("llm_response_id"))
        thought = joined_text(event.get("thought"))
        grown = self._grown(event)
        again = response is not None and self._responses.before(response)
        if thought or not again:
            yield self.call("message", kind="llm", text=thought, **grown)
        elif any(grown.values()):
            yield self.call("usage", kind="system", **grown)
        asked = mapping(event.get("tool_call"))
        action = mapping(event.get("action"))
        args = arguments(asked.get("arguments")) if "arguments" in asked else None
        if args is None:
            args = {key: value for key, value in action.items() if key != "kind"}
        name = text(event.get("tool_name")) or text(asked.get("name")) or text(action.get("kind")) or "tool"
        key = identifier(event.get("tool_call_id")) or identifier(event.get("id"))
        yield from self.calls.opened(key, self.call(name, args=args, batch=response))

    def _foreign(self, event: Mapping[str, Any]) -> Iterator[Call]:
        """A call of an agent that OpenHands drives, told of whenever more is known of it."""
        name = text(event.get("title")) or text(event.get("tool_kind")) or "tool"
        call = self.call(name, args=event.get("raw_input"))
        key, status = identifier(event.get("tool_call_id")), event.get("status")
        if status not in _OVER and event.get("is_error") is not True:
            yield from self.calls.opened(key, call)
            return
        result = event.get("raw_output")
        result = result if result is not None else event.get("content")
        failed = status == "failed" or event.get("is_error") is True
        yield from self.calls.closed(key, else_call=call, **self.known(result=result, error=failed))

    def _answer(self, event: Mapping[str, Any]) -> Iterator[Call]:
        seen = mapping(event.get("observation"))
        result: object = event.get("error") or event.get("rejection_reason")
        failed = result is not None
        if result is None:
            result = _result(seen)
            code = seen.get("exit_code", mapping(seen.get("metadata")).get("exit_code"))
            failed = seen.get("is_error") is True or (isinstance(code, int) and code not in (0, -1))
        key = identifier(event.get("tool_call_id")) or identifier(event.get("action_id"))
        call = self.call(text(event.get("tool_name")) or "tool")
        yield from self.calls.closed(key, else_call=call, **self.known(result=result, error=failed))

    def _grown(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """What the totals that early versions put into their events have grown by."""
        return self._running("").growth(totals_of(mapping(event.get("metrics"))))

    def _usage(self, metrics: Mapping[str, Any], use: str) -> Iterator[Call]:
        grown = self._running(use).growth(totals_of(metrics))
        if any(grown.values()):
            yield self.call("usage", kind="system", model=text(metrics.get("model_name")), **grown)

    def _running(self, use: str) -> Running:
        return self._growing.setdefault(use, Running())


def _result(seen: Mapping[str, Any]) -> object:
    """What was observed: its text where it has some, or all that is told of it."""
    for key in ("content", "output"):
        told = seen.get(key)
        if isinstance(told, list) and all(mapping(part).get("type", "text") == "text" for part in told):
            return joined_text(items(told)) or ""
        if told is not None:
            return shown(told)
    return {key: entry for key, entry in seen.items() if key != "kind"} or None
