"""Inspect: the solver, or the agent, of a task."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Unpack

from inspect_ai.agent import Agent, as_solver, is_agent
from inspect_ai.hooks import Hooks, hooks
from inspect_ai.model import ChatMessage, ChatMessageUser, ModelUsage
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from ebbtide.adapters.run_watch import RunWatch, WatchOptions, require_parts

_NEEDED = ("on_before_model_generate", "on_model_usage")


class EbbtideInspect:
    """Watch of the samples of a task: ``Task(solver=EbbtideInspect().attach(react(tools=tools)))``.

    Each sample is a run. A note is put before the next call of the model, for that call alone. A run that is
    to end exceeds a custom limit of Inspect, so that the sample ends, keeps its messages and is scored.

    Raises:
        ConfigError: This version of Inspect does not call the hooks that are needed.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        require_parts(Hooks, _NEEDED, "inspect_ai needs a later inspect-ai")
        self.watch = RunWatch(**options)

    def attach(self, inner: Solver | Agent) -> Solver:
        """Watches all that a solver or an agent does.

        Args:
            inner: The solver, or the agent, of a task.

        Returns:
            A solver that does the same.
        """
        work: Solver = as_solver(inner) if is_agent(inner) else inner

        @solver(name="ebbtide")
        def watched_solver() -> Solver:
            async def solve(state: TaskState, generate: Generate) -> TaskState:
                async with self._sample(state):
                    return await work(state, generate)

            return solve

        return watched_solver()

    @asynccontextmanager
    async def _sample(self, state: TaskState) -> AsyncIterator[None]:
        run_id = state.uuid
        here = _WatchedSample(self.watch, run_id)
        for message in state.messages:
            if message.role == "user":
                self.watch.record_message(run_id, message.text)
        token = _sample.set(here)
        try:
            yield
        finally:
            _sample.reset(token)
            here.catch_up(state.messages)
            self.watch.end(run_id)


@dataclass(slots=True)
class _Conversation:
    """The messages of one agent in a run.

    Args:
        agent: Its name for us; None for the first one.
        answer_id: Id of the answer of the model that was recorded last.
        is_open: True if a call of the model was let through whose answer has not been recorded.
    """

    agent: str | None
    answer_id: str | None = None
    is_open: bool = False
    usage: ModelUsage | None = None


@dataclass(slots=True)
class _WatchedSample:
    """A run, and the conversations in it."""

    watch: RunWatch
    run_id: str
    conversations: dict[str, _Conversation] = field(default_factory=dict)
    calls: int = 0

    def of(self, messages: list[ChatMessage]) -> _Conversation:
        """Returns the conversation that messages belong to: that with the same beginning."""
        beginning = takewhile(lambda message: message.role in {"system", "user"}, messages)
        key = "\0".join(message.text for message in beginning)
        if key not in self.conversations:
            number = len(self.conversations) + 1
            self.conversations[key] = _Conversation(None if number == 1 else f"conversation {number}")
        return self.conversations[key]

    def catch_up(self, messages: list[ChatMessage]) -> _Conversation:
        """Records what came of the call of the model before: its answer, and those of the tools."""
        here = self.of(messages)
        place = next((n for n in reversed(range(len(messages))) if messages[n].role == "assistant"), None)
        answer: Any = None if place is None else messages[place]
        if here.is_open and (answer is None or answer.id == here.answer_id):
            if here.usage is None:
                self.watch.record_failure(self.run_id, agent=here.agent)
            else:  # an answer that nobody kept
                self._record_answer(here, None)
        elif here.is_open:
            here.answer_id = answer.id
            self._record_answer(here, answer)
            self._record_tools(here, answer, messages[(place or 0) + 1 :])
        here.is_open, here.usage = False, None
        return here

    def _record_answer(self, here: _Conversation, answer: Any) -> None:
        self.watch.record_answer(
            self.run_id,
            None if answer is None else answer.text,
            agent=here.agent,
            model=getattr(answer, "model", None),
            usage={} if here.usage is None else _usage(here.usage),
        )

    def _record_tools(self, here: _Conversation, answer: Any, messages: list[Any]) -> None:
        calls = {call.id: call for call in answer.tool_calls or ()}
        for message in messages:
            call = calls.get(message.tool_call_id) if message.role == "tool" else None
            if call is not None:
                self.watch.record_tool_call(
                    self.run_id,
                    call.function,
                    call.arguments,
                    message.text or getattr(message.error, "message", ""),
                    error=message.error is not None,
                    agent=here.agent,
                    batch=answer.id,
                )


_sample: ContextVar[_WatchedSample | None] = ContextVar("ebbtide_sample", default=None)
_conversation: ContextVar[_Conversation | None] = ContextVar("ebbtide_conversation", default=None)


@hooks(name="ebbtide", description="Ends samples that go in circles or past their limits.")
class _EbbtideInspectHooks(Hooks):
    """Hooks that are called in the whole process, and act inside of what was attached."""

    async def on_before_model_generate(self, data: Any) -> None:
        sample = _sample.get()
        if sample is None:
            return
        here = sample.catch_up(data.input)
        advice = sample.watch.advise(sample.run_id, agent=here.agent)
        if advice.refusal:
            text = sample.watch.last_words(sample.run_id, advice)
            raise LimitExceededError("custom", value=sample.calls, limit=sample.calls, message=text)
        sample.calls += 1
        here.is_open = True
        _conversation.set(here)
        if advice.note:
            data.input.append(ChatMessageUser(content=advice.note))
        if advice.without_tools:
            data.tools.clear()

    async def on_model_usage(self, data: Any) -> None:
        here = _conversation.get()
        if here is not None:
            here.usage = data.usage


def _usage(usage: ModelUsage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.input_tokens_cache_read,
        "cache_write_tokens": usage.input_tokens_cache_write,
        "cost_usd": usage.total_cost,
    }
