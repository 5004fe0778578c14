"""Events of OpenHands V0: actions, and observations that name their cause."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.openhands_events import RunEvents, totals_of
from ebbtide.traces.records.fields import identifier, mapping, text
from ebbtide.traces.records.provider_usage import has_spent, has_tokens, openai_usage, reported
from ebbtide.traces.records.usage_accounts import RunningTotal

_NO_CALLS = frozenset(
    (
        "change_agent_state",
        "initialize",
        "loop_recovery",
        "null",
        "pause",
        "recall",
        "reset",
        "resume",
        "start",
        "stop",
        "streaming_chunk",
        "system",
    )
)
_NO_ANSWERS = frozenset(("agent_state_changed", "null", "recall", "condense"))
_BOOKKEEPING = frozenset(
    (
        "thought",
        "blocking",
        "keep_prompt",
        "hidden",
        "confirmation_state",
        "is_input",
        "is_static",
        "security_risk",
        "final_thought",
        "safety_risk",
    )
)
_MOST_IDS = 10_000  # calls whose ids of the model are remembered


class V0Events(RunEvents):
    """Reads the events of one run."""

    def __init__(self, chain: str) -> None:
        super().__init__(chain)
        self._growing = RunningTotal()
        self._ids: OrderedDict[str, str] = OrderedDict()  # ids of actions by those of the model's calls
        self._nameless = 0
        self._latest: str | None = None  # an action without an id, whose answer comes next

    def read(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """The events that this one completes."""
        if isinstance(event.get("observation"), str):
            yield from self._answer(event)
        elif isinstance(event.get("action"), str):
            yield from self._action(event)

    def _action(self, event: Mapping[str, Any]) -> Iterator[Event]:
        action, args, source = event["action"], mapping(event.get("args")), event.get("source")
        if action == "message":
            words = text(args.get("content")) or text(event.get("message"))
            if source == "user":
                yield Message(text=words, **self.common)
            else:
                yield from self._model_call(event, words)
            return
        if action == "condensation":
            yield Notice(kind=NoticeKind.COMPACTION, **self.common)
        if action in _NO_CALLS or action.startswith("condensation"):
            return
        request = mapping(event.get("tool_call_metadata"))
        if source != "user":
            yield from self._model_call(event, text(args.get("thought")) or text(args.get("final_thought")))
        call = ToolCall(
            name=text(request.get("function_name")) or action,
            args={key: value for key, value in args.items() if key not in _BOOKKEEPING},
            batch=identifier(mapping(request.get("model_response")).get("id")),
            agent=None if source in ("agent", None) else text(source),
            **self.common,
        )
        key = identifier(event.get("id"))
        yield from self.calls.open(self._key(key, request), call)

    def _key(self, key: str | None, request: Mapping[str, Any]) -> str:
        if key is None:
            self._nameless += 1
            key = self._latest = f"nameless {self._nameless}"
        if (name := identifier(request.get("tool_call_id"))) is not None:
            self._ids[name] = key
            if len(self._ids) > _MOST_IDS:
                self._ids.popitem(last=False)
        return f"action {key}"

    def _model_call(self, event: Mapping[str, Any], words: str | None) -> Iterator[Event]:
        response = mapping(mapping(event.get("tool_call_metadata")).get("model_response"))
        name = identifier(response.get("id"))
        usage = Usage()
        if name is None or not self._responses.before(name):
            usage = openai_usage(response.get("usage"))
        elif not words:
            return
        totals = totals_of(mapping(event.get("llm_metrics")))
        grown = self._growing.growth(totals)
        if has_tokens(totals):
            usage = grown
        usage.cost_usd = grown.cost_usd
        if words or response or has_spent(grown):
            usage.model = text(response.get("model"))
            yield ModelCall(text=words or "", usage=reported(usage), **self.common)

    def _answer(self, event: Mapping[str, Any]) -> Iterator[Event]:
        kind, cause = event["observation"], identifier(event.get("cause"))
        if cause is None:
            # The answer of a delegate names the call of the model alone.
            cause = self._ids.get(
                identifier(mapping(event.get("tool_call_metadata")).get("tool_call_id")) or ""
            )
        if kind in _NO_ANSWERS and (cause is None or not len(self.calls)):
            return
        if cause is None:
            cause, self._latest = self._latest, None
        extras = mapping(event.get("extras"))
        code = extras.get("exit_code", mapping(extras.get("metadata")).get("exit_code"))
        failed = kind == "error" or (isinstance(code, int) and code not in (0, -1))
        result = event.get("content")
        if cause is None and kind == "error":
            yield Notice(kind=NoticeKind.ERROR, text=text(result), error=True, **self.common)
            return
        key = f"action {cause}" if cause is not None else None
        yield from self.calls.close(key, **self.timed(result=result, error=failed))
