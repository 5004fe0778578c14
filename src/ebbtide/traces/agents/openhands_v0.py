"""Events of OpenHands V0: actions, and observations that name their cause."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from ebbtide.events.event import Call
from ebbtide.traces.agents.openhands_events import RunEvents, totals_of
from ebbtide.traces.records.accounts import CLASSES, Running
from ebbtide.traces.records.fields import identifier, mapping, text
from ebbtide.traces.records.token_classes import openai_classes

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
_MOST_ASKED = 10_000  # calls whose ids of the model are remembered


class V0Events(RunEvents):
    """Reads the events of one run."""

    def __init__(self, chain: str) -> None:
        super().__init__(chain)
        self._growing = Running()
        self._asked: OrderedDict[str, str] = OrderedDict()  # ids of actions by those of the model's calls
        self._nameless = 0
        self._latest: str | None = None  # an action without an id, whose answer comes next

    def read(self, event: Mapping[str, Any]) -> Iterator[Call]:
        """The events that this one completes."""
        if isinstance(event.get("observation"), str):
            yield from self._answer(event)
        elif isinstance(event.get("action"), str):
            yield from self._action(event)

    def _action(self, event: Mapping[str, Any]) -> Iterator[Call]:
        action, args, source = event["action"], mapping(event.get("args")), event.get("source")
        if action == "message":
            said = text(args.get("content")) or text(event.get("message"))
            if source == "user":
                yield self.call("message", kind="user", text=said)
            else:
                yield from self._model_call(event, said)
            return
        if action == "condensation":
            yield self.call("condensation", kind="system")
        if action in _NO_CALLS or action.startswith("condensation"):
            return
        asked = mapping(event.get("tool_call_metadata"))
        if source != "user":
            yield from self._model_call(event, text(args.get("thought")) or text(args.get("final_thought")))
        call = self.call(
            text(asked.get("function_name")) or action,
            args={key: value for key, value in args.items() if key not in _BOOKKEEPING},
            batch=identifier(mapping(asked.get("model_response")).get("id")),
            agent=None if source in ("agent", None) else text(source),
        )
        key = identifier(event.get("id"))
        yield from self.calls.opened(self._remembered(key, asked), call)

    def _remembered(self, key: str | None, asked: Mapping[str, Any]) -> str:
        if key is None:
            self._nameless += 1
            key = self._latest = f"nameless {self._nameless}"
        if (name := identifier(asked.get("tool_call_id"))) is not None:
            self._asked[name] = key
            if len(self._asked) > _MOST_ASKED:
                self._asked.popitem(last=False)
        return f"action {key}"

    def _model_call(self, event: Mapping[str, Any], said: str | None) -> Iterator[Call]:
        asked = mapping(mapping(event.get("tool_call_metadata")).get("model_response"))
        response = identifier(asked.get("id"))
        usage: dict[str, Any] = {}
        if response is None or not self._responses.before(response):
            usage = {**openai_classes(asked.get("usage"))}
        elif not said:
            return
        totals = totals_of(mapping(event.get("llm_metrics")))
        grown = self._growing.growth(totals)
        if any(key in CLASSES for key in totals):
            usage = {}
        if said or asked or any(grown.values()):
            usage = {**usage, **grown}
            yield self.call("message", kind="llm", text=said, model=text(asked.get("model")), **usage)

    def _answer(self, event: Mapping[str, Any]) -> Iterator[Call]:
        kind, cause = event["observation"], identifier(event.get("cause"))
        if cause is None:
            # The answer of a delegate names the call of the model alone.
            cause = self._asked.get(
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
            yield self.call("error", kind="system", text=text(result), error=True)
            return
        key = f"action {cause}" if cause is not None else None
        yield from self.calls.closed(key, **self.known(result=result, error=failed))
