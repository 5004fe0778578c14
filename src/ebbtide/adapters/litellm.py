"""LiteLLM: any loop around ``completion`` and ``acompletion``, streams too."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, Self, Unpack

import litellm
from litellm.types.utils import Choices, Delta, Message, ModelResponse, ModelResponseStream, StreamingChoices

from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.adapters.watched_stream import LastStream, WatchedStream
from ebbtide.bounded import Bounded
from ebbtide.errors import ConfigError
from ebbtide.events.object_fields import fields_of
from ebbtide.events.provider_answer import parsed, tool_request

_MOST_ANSWERS: Final = 16_384  # whose run is known
_TOOL_OPTIONS: Final = ("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call")
_KEEP_TOOLS: Final = (
    "claude",
    "anthropic",
)  # refuse a conversation with calls of tools where none are offered


class EbbtideLiteLLM:
    """Watch of calls of models through LiteLLM: ``EbbtideLiteLLM().install()``, or its own ``completion``.

    LiteLLM knows calls, and no runs. A call belongs to the run whose latest answer is in its messages, or
    that ``metadata={"ebbtide_run": name}`` names; else it begins one. A call that is not to be made is
    answered with the reason, without calls of tools, so that the loop ends as usual.

    A logger of LiteLLM would not do: it can refuse and change asynchronous calls only, and learns of the
    others after the next one may have begun.

    Attributes:
        watch: The runs, and what failed in watching them.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        self.watch = RunWatch(**options)
        self._completion = litellm.completion
        self._acompletion = litellm.acompletion
        self._runs: Bounded[str, str] = Bounded(_MOST_ANSWERS)  # by what stands for an answer
        self._lock = threading.Lock()

    def install(self) -> Self:
        """Puts the functions here in the place of LiteLLM's, for everything that looks them up there.

        Raises:
            ConfigError: They are watched already.
        """
        if getattr(litellm.completion, "__self__", None).__class__ is EbbtideLiteLLM:
            raise ConfigError("litellm.completion is watched already")
        litellm.completion = self.completion
        litellm.acompletion = self.acompletion
        return self

    def uninstall(self) -> None:
        """Puts LiteLLM's own functions back."""
        litellm.completion = self._completion
        litellm.acompletion = self._acompletion

    def completion(self, model: str, messages: Any = None, *args: Any, **call: Any) -> Any:
        """Watches ``litellm.completion``, with the same arguments and answer."""
        plan = self._plan(model, messages, call)
        if plan.ending is not None:
            return _ended_stream(plan) if call.get("stream") else _ended(plan)
        try:
            answer = self._completion(model, plan.messages, *args, **call)
        except Exception:
            self.watch.record_failure(plan.run_id)
            raise
        if call.get("stream"):
            return self._streamed(plan, answer)
        self.record(plan, answer)
        return answer

    async def acompletion(self, model: str, messages: Any = None, *args: Any, **call: Any) -> Any:
        """Watches ``litellm.acompletion``, with the same arguments and answer."""
        plan = self._plan(model, messages, call)
        if plan.ending is not None:
            return _ended_stream(plan) if call.get("stream") else _ended(plan)
        try:
            answer = await self._acompletion(model, plan.messages, *args, **call)
        except Exception:
            self.watch.record_failure(plan.run_id)
            raise
        if call.get("stream"):
            return self._streamed(plan, answer)
        self.record(plan, answer)
        return answer

    def record(self, plan: _Plan, answer: Any) -> None:
        """Takes an answer, and remembers whose it is."""
        self.watch.record_answer(plan.run_id, answer)
        message = _message_of(answer)
        self._remember(plan.run_id, _keys(message))
        if not message.get("tool_calls"):
            self.watch.end(plan.run_id)

    def _streamed(self, plan: _Plan, stream: Any) -> WatchedStream:
        """Returns a stream, whose answer is recorded when it has ended."""

        def end(parts: list[Any]) -> None:
            answer = None
            with suppress(Exception):  # whatever a provider sent; then the answer is not known
                answer = litellm.stream_chunk_builder(parts, messages=plan.messages)
            self.record(plan, answer)

        return WatchedStream(stream, end, lambda _: self.watch.record_failure(plan.run_id))

    def _plan(self, model: str, messages: Any, call: dict[str, Any]) -> _Plan:
        """Returns the plan for a call; its options are changed in place."""
        history = [fields_of(message) for message in messages or ()]
        latest = list(takewhile(lambda message: message.get("role") != "assistant", reversed(history)))[::-1]
        answer = history[-len(latest) - 1] if len(latest) < len(history) else {}
        run_id = self._run_of(answer, call)
        self._record_latest(run_id, answer, latest)
        advice = self.watch.advise(run_id)
        plan = _Plan(run_id, model, messages)
        if advice.refusal:
            plan.ending = final_text(advice.verdict, self.watch.end(run_id))
        if advice.note:
            plan.messages = [*messages, {"role": "user", "content": advice.note}]
        if advice.without_tools:
            _take_tools_away(model, call)
        return plan

    def _run_of(self, answer: Any, call: dict[str, Any]) -> str:
        name = (call.get("metadata") or {}).get("ebbtide_run")
        if name:
            return str(name)
        with self._lock:
            runs = [self._runs[key] for key in _keys(answer) if key in self._runs]
        return runs[0] if runs else self.watch.new_run()

    def _remember(self, run_id: str, keys: list[str]) -> None:
        with self._lock:
            for key in keys:
                self._runs.renew(key, run_id)

    def _record_latest(self, run_id: str, answer: Any, messages: list[Any]) -> None:
        """Records what came since the model last answered: the answers of tools, and what a person says."""
        calls = {
            fields_of(call).get("id"): tool_request(call, parsed) for call in answer.get("tool_calls") or ()
        }
        for message in messages:
            request = calls.get(message.get("tool_call_id"))
            if request is not None:
                self.watch.record_tool_call(
                    run_id, request.name, request.args, message.get("content"), batch=_keys(answer)[0]
                )
            elif message.get("role") == "user":
                self.watch.record_message(run_id, message.get("content"))


@dataclass(slots=True)
class _Plan:
    """Plan for a call: the messages to send, or what is answered without sending any."""

    run_id: str
    model: str
    messages: Any
    ending: str | None = None


def _ended(plan: _Plan) -> ModelResponse:
    message = Message(role="assistant", content=plan.ending)
    return ModelResponse(model=plan.model, choices=[Choices(finish_reason="stop", message=message)])


def _ended_stream(plan: _Plan) -> LastStream:
    choice = StreamingChoices(finish_reason="stop", delta=Delta(role="assistant", content=plan.ending))
    return LastStream([ModelResponseStream(model=plan.model, choices=[choice])])


def _message_of(answer: Any) -> Any:
    choices = fields_of(answer).get("choices") or [{}]
    return fields_of(fields_of(choices[0]).get("message"))


def _keys(message: Any) -> list[str]:
    """Returns the keys of an answer of a model: the ids of the calls that it asks for, or else its words."""
    calls = [str(fields_of(call).get("id")) for call in message.get("tool_calls") or ()]
    return calls or [f"words {message.get('content')}"]


def _take_tools_away(model: str, call: dict[str, Any]) -> None:
    if call.get("tools") and any(name in model.lower() for name in _KEEP_TOOLS):
        call["tool_choice"] = "none"
        return
    for name in _TOOL_OPTIONS:
        call.pop(name, None)
