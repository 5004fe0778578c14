"""Microsoft Agent Framework: a middleware for ``Agent``."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Unpack

from agent_framework import (
    AgentContext,
    AgentMiddleware,
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    Message,
    MiddlewareTermination,
    ResponseStream,
)

from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.errors import ConfigError
from ebbtide.events.usage import Usage
from ebbtide.supervision.runs.advice import Advice

_CallNext = Callable[[], Awaitable[None]]
_TOOL_OPTIONS = ("tools", "tool_choice", "allow_multiple_tool_calls")
_COUNTS = {
    "input_token_count": "prompt_tokens",
    "output_token_count": "completion_tokens",
    "cache_read_input_token_count": "cache_read_input_tokens",
    "cache_creation_input_token_count": "cache_creation_input_tokens",
}


class EbbtideAgentMiddleware(AgentMiddleware):
    """Middleware of an agent: ``Agent(client, tools=tools, middleware=[EbbtideAgentMiddleware()])``.

    A note is put before the next call of the model, for that call alone. A run that is to end gets its reason
    as the model's last answer, so that it ends as usual with all messages. An agent that is a tool of another
    one, and has the middleware too, is a conversation of its own in the run of its caller.

    Raises:
        ConfigError: The framework is too old, or an option is wrong.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        if "client_kwargs" not in inspect.signature(AgentContext).parameters:
            raise ConfigError("needs a later agent-framework-core: AgentContext.client_kwargs is missing")
        self.watch = RunWatch(**options)
        self.caller: ContextVar[_WatchedRun | None] = ContextVar("ebbtide_caller", default=None)

    async def process(self, context: AgentContext, call_next: _CallNext) -> None:  # noqa: D102
        caller = self.caller.get()
        if caller is None:
            run = _WatchedRun(self, self.watch.new_run(), None)
            with self.watch.guarded():
                for message in context.messages:
                    if str(getattr(message.role, "value", message.role)) == "user":
                        self.watch.record_message(run.run_id, message.text)
        else:
            name = getattr(context.agent, "name", None) or "agent"
            run = _WatchedRun(self, caller.run_id, f"{name} {self.watch.new_run()[:8]}")
        options = dict(context.client_kwargs or {})
        # As the framework hands the middlewares of a run to its client.
        options["middleware"] = [*(options.get("middleware") or []), _Models(run), _Tools(run)]
        context.client_kwargs = options
        if caller is not None:
            await call_next()
        elif context.stream:
            context.stream_cleanup_hooks.append(run.end)
            await call_next()
        else:
            try:
                await call_next()
            finally:
                run.end()


class _WatchedRun:
    """One run of an agent: what its two middlewares share."""

    def __init__(self, adapter: EbbtideAgentMiddleware, run_id: str, agent: str | None) -> None:
        self.adapter = adapter
        self.watch = adapter.watch
        self.run_id = run_id
        self.agent = agent

    def record_answer(self, answer: ChatResponse) -> None:
        with self.watch.guarded():
            self.watch.record_answer(
                self.run_id, answer.text, agent=self.agent, model=_model(answer), usage=_usage(answer)
            )

    def end(self) -> None:
        self.watch.end(self.run_id)

    def refusal(self, advice: Advice) -> str:
        """Returns why it ended; of an agent that is a tool, why that one did, for its caller goes on."""
        return final_text(advice.verdict, None if self.agent else self.watch.end(self.run_id))


class _Models(ChatMiddleware):
    def __init__(self, run: _WatchedRun) -> None:
        self.run = run

    async def process(self, context: ChatContext, call_next: _CallNext) -> None:
        run = self.run
        advice = run.watch.advise(run.run_id, agent=run.agent)
        if advice.refusal:
            context.result = _last_answer(run.refusal(advice), stream=context.stream)
            return
        if advice.note:
            context.messages = [*context.messages, Message("user", [advice.note])]
        if advice.without_tools:
            options = context.options or {}
            context.options = {name: value for name, value in options.items() if name not in _TOOL_OPTIONS}
        if context.stream:
            context.stream_result_hooks.append(run.record_answer)
        try:
            await call_next()
        except MiddlewareTermination:
            raise  # another middleware answers
        except Exception:
            run.watch.record_failure(run.run_id, agent=run.agent)
            raise
        if isinstance(context.result, ChatResponse):
            run.record_answer(context.result)


class _Tools(FunctionMiddleware):
    def __init__(self, run: _WatchedRun) -> None:
        self.run = run

    async def process(self, context: FunctionInvocationContext, call_next: _CallNext) -> None:
        token = self.run.adapter.caller.set(self.run)
        try:
            await call_next()
        except MiddlewareTermination:
            raise
        except Exception as error:
            self._record(context, error, error=True)
            raise
        finally:
            self.run.adapter.caller.reset(token)
        self._record(context, context.result)

    def _record(self, context: FunctionInvocationContext, answer: object, *, error: bool = False) -> None:
        run, args = self.run, None
        with suppress(Exception):
            arguments = context.arguments
            args = dict(arguments) if isinstance(arguments, Mapping) else arguments.model_dump()
        run.watch.record_tool_call(
            run.run_id, context.function.name, args, answer, error=error, agent=run.agent
        )


def _last_answer(text: str, *, stream: bool) -> Any:
    if not stream:
        return ChatResponse(messages=[Message("assistant", [text])])

    async def updates() -> AsyncIterator[ChatResponseUpdate]:
        yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(text)])

    return ResponseStream(updates(), finalizer=ChatResponse.from_updates)


def _model(answer: ChatResponse) -> str | None:
    model = getattr(answer, "model", None) or getattr(answer, "model_id", None)
    return model if isinstance(model, str) else None


def _usage(answer: ChatResponse) -> object:
    """Returns the counts of an answer, best as the provider states them, with cached tokens apart."""
    with suppress(Exception):
        usage = Usage.of(answer.raw_representation)
        if usage is not None:
            return usage
    details = answer.usage_details or {}
    return {name: details[count] for count, name in _COUNTS.items() if details.get(count) is not None}
