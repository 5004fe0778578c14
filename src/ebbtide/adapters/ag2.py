"""AG2: a middleware for ``Agent``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Unpack

import ag2
from ag2.events import ModelRequest, ModelResponse, TextInput, ToolCallEvent, ToolErrorEvent
from ag2.events.types import ModelMessage
from ag2.exceptions import HumanInputError

from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.errors import ConfigError
from ebbtide.supervision.runs.advice import Advice

try:
    from ag2.middleware import BaseMiddleware
except ImportError as error:
    version = getattr(ag2, "__version__", "this one")
    raise ConfigError(f"needs a later ag2 than {version}: ag2.middleware is missing") from error

_NO = ("", "n", "no", "stop", "end")  # answers of a person that let the run end
_BESIDE = ("anthropic", "bedrock")  # providers that count cached tokens beside those of the prompt
_COUNTS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_input_tokens",
    "cache_creation_input_tokens": "cache_creation_input_tokens",
}


class EbbtideTurns:
    """Middleware that watches agents: ``Agent("clerk", config=config, middleware=[EbbtideTurns()])``.

    A note is put before the next call of the model, for that call alone. A conversation that is to end gets
    its reason as the model's last answer, so that the turn ends as usual. A stream is a run; a conversation
    that is continued goes on with it.

    Args:
        asks: True if a person is asked where one should look, and before a loop ends the run, as
            ``context.input`` asks: the agent needs a ``hitl_hook``. The run ends where the answer is no, or
            where there is none. Without, it ends.
    """

    def __init__(self, *, asks: bool = False, **options: Unpack[WatchOptions]) -> None:
        self.asks = asks
        self.watch = RunWatch(**options)

    def __call__(self, event: Any, context: Any) -> BaseMiddleware:
        """Returns the middleware of one turn, as the framework makes it."""
        return _WatchedTurn(event, context, self.watch, asks=self.asks)


class _WatchedTurn(BaseMiddleware):
    def __init__(self, event: Any, context: Any, watch: RunWatch, *, asks: bool) -> None:
        super().__init__(event, context)
        self._asks = asks
        self._watch = watch
        self._run_id = str(context.stream.id)

    async def on_turn(self, call_next: Callable[..., Any], event: Any, context: Any) -> ModelResponse:
        if isinstance(event, ModelRequest):
            self._watch.record_message(self._run_id, event.parts)
        return await call_next(event, context)

    async def on_llm_call(
        self, call_next: Callable[..., Any], events: Sequence[Any], context: Any
    ) -> ModelResponse:
        advice = self._watch.advise(self._run_id, asks=self._asks)
        if advice.ask and self._asks and await _is_approved(context, final_text(advice.verdict)):
            self._watch.acknowledge(self._run_id)
            advice = self._watch.advise(self._run_id)
        if advice.refusal:
            return await self._last_answer(advice, context)
        if advice.note:
            events = [*events, ModelRequest([TextInput(advice.note)])]
        if advice.without_tools:
            call_next = _without_tools(call_next)
        with self._watch.calling(self._run_id):
            answer = await call_next(events, context)
        with self._watch.guarded():
            self._watch.record_answer(self._run_id, answer, model=answer.model, usage=_usage(answer))
        return answer

    async def on_tool_execution(
        self, call_next: Callable[..., Any], event: ToolCallEvent, context: Any
    ) -> Any:
        answer = await call_next(event, context)
        with self._watch.guarded():
            is_error = isinstance(answer, ToolErrorEvent)
            # The text of an error has the whole way to it, and another one each time.
            result = answer.error if is_error else getattr(answer, "result", None)
            parts = getattr(result, "parts", result)
            self._watch.record_tool_call(self._run_id, event.name, event.arguments, parts, error=is_error)
        return answer

    async def _last_answer(self, advice: Advice, context: Any) -> ModelResponse:
        message = ModelMessage(self._watch.last_words(self._run_id, advice))
        with suppress(Exception):
            await context.send(message)  # as a model does, for who listens to the stream
        return ModelResponse(message)


async def _is_approved(context: Any, question: str) -> bool:
    """Returns True if a person lets the run go on."""
    try:
        answer = await context.input(question)
    except HumanInputError:
        return False
    return answer.strip().lower() not in _NO


def _without_tools(call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the call of the model, through all middlewares behind this one, with no tools at its end."""
    if not isinstance(call, partial):
        return call
    if "tools" in call.keywords:
        return partial(call, tools=[])
    if call.args and isinstance(call.args[0], partial):
        return partial(call.func, _without_tools(call.args[0]), *call.args[1:], **call.keywords)
    return call


def _usage(answer: ModelResponse) -> object:
    """Returns the counts of an answer, in the words of a provider that counts them alike."""
    if answer.provider not in _BESIDE:
        return answer.usage
    return {name: getattr(answer.usage, count, None) for count, name in _COUNTS.items()}
