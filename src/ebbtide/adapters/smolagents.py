"""smolagents: watches the model and the tools of an agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any, Unpack

from smolagents import ActionStep, CodeAgent, FinalAnswerStep, MultiStepAgent, TaskStep
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    agglomerate_stream_deltas,
)

from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.run_watch import RunWatch, WatchOptions, require_parts
from ebbtide.errors import ConfigError
from ebbtide.events.usage import Usage
from ebbtide.supervision.runs.advice import Advice

_ATTRIBUTE = "ebbtide_run"  # of the step that holds the task: the id of its run
_ACTION = "Observation:"  # stops the model where it is to act, and nowhere else
_FINAL = "final_answer"
_NEEDS = ("provide_final_answer", "step_callbacks", "memory")


class EbbtideSteps:
    """Watch of agents: ``agent = EbbtideSteps().attach(agent)``.

    A note is put before the next call of the model, for that call alone. A run that is to end gets its reason
    as its final answer; the last call of a run with a limit is the one that the framework makes at
    ``max_steps``, without tools. Agents that an agent manages are watched with it, each as a conversation of
    its own in the same run.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        self.watch = RunWatch(**options)

    def attach(self, agent: Any) -> Any:
        """Returns the same agent, under watch with all agents that it manages.

        Raises:
            ConfigError: The framework is too old, or it is watched already.
        """
        require_parts(agent, _NEEDS, "needs a later smolagents")
        self._attach(agent, None)
        return agent

    def _attach(self, agent: Any, manager: _WatchedAgent | None) -> None:
        if isinstance(agent.model, _WatchedModel):
            raise ConfigError(f"agent {agent.name or type(agent).__name__} is watched already")
        watched = _WatchedAgent(self.watch, agent, manager)
        agent.model = _WatchedModel(agent.model, watched)
        if isinstance(agent, CodeAgent):
            agent.step_callbacks.register(ActionStep, watched.record_code)
        else:
            agent.execute_tool_call = watched.recorded(agent.execute_tool_call)
        agent.step_callbacks.register(FinalAnswerStep, watched.end)
        for other in agent.managed_agents.values():
            if isinstance(other, MultiStepAgent):
                self._attach(other, watched)


class _WatchedAgent:
    """One agent, and the run that it works on. It works on one at a time, since it has one memory."""

    def __init__(self, watch: RunWatch, agent: Any, manager: _WatchedAgent | None) -> None:
        self.watch = watch
        self.agent = agent
        self.manager = manager
        self.name = None if manager is None else agent.name

    @property
    def run_id(self) -> str:
        if self.manager is not None:
            return self.manager.run_id
        task = next((step for step in reversed(self.agent.memory.steps) if isinstance(step, TaskStep)), None)
        run_id = getattr(task, _ATTRIBUTE, None)
        if run_id is None:
            run_id = self.watch.new_run()
            if task is not None:
                setattr(task, _ATTRIBUTE, run_id)
                self.watch.record_message(run_id, task.task)
        return str(run_id)

    def advice(self) -> Advice:
        return self.watch.advise(self.run_id, agent=self.name)

    def refusal(self, advice: Advice) -> str:
        """Returns why it ended; of an agent that is managed, why that one did, for its manager goes on."""
        return final_text(advice.verdict, None if self.manager else self.watch.end(self.run_id))

    def end(self, step: Any, agent: Any = None) -> None:
        del step, agent
        if self.manager is None:
            self.watch.end(self.run_id)

    def record_answer(self, answer: ChatMessage, model: str | None) -> None:
        usage: object = None
        with suppress(Exception):
            usage = Usage.of(answer.raw)  # separates cached tokens from fresh ones
        self.watch.record_answer(
            self.run_id, answer, agent=self.name, model=model, usage=usage or answer.token_usage
        )

    def calling(self) -> AbstractContextManager[None]:
        return self.watch.calling(self.run_id, agent=self.name)

    def record_code(self, step: Any, agent: Any = None) -> None:
        del agent
        if step.is_final_answer:
            return  # it is the answer of the agent
        with self.watch.guarded():
            for call in step.tool_calls or []:
                result = step.error or step.observations
                self._record(call.name, call.arguments, result, error=bool(step.error))

    def recorded(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the tools of an agent, recorded. Its answer is a tool too, which is none to us."""

        def execute_tool_call(tool_name: str, arguments: Any) -> Any:
            try:
                result = execute(tool_name, arguments)
            except Exception as error:
                self._record(tool_name, arguments, error, error=True)
                raise
            if tool_name != _FINAL:
                self._record(tool_name, arguments, result)
            return result

        return execute_tool_call

    def last_answer(self, text: object) -> ChatMessage:
        """Returns an answer of the model that ends the run with a text."""
        message = ChatMessage(role=MessageRole.ASSISTANT, content="")
        if isinstance(self.agent, CodeAgent):
            message.content = self._code(f"{_FINAL}({text!r})")
        else:
            call = ChatMessageToolCallFunction(name=_FINAL, arguments={"answer": text})
            message.tool_calls = [ChatMessageToolCall(id="ebbtide", type="function", function=call)]
        return message

    def _code(self, code: str) -> str:
        if getattr(self.agent, "_use_structured_outputs_internally", False):
            return json.dumps({"thought": "", "code": code})
        start, end = self.agent.code_block_tags
        return f"{start}\n{code}\n{end}"

    def _record(self, name: str, args: Any, result: object, *, error: bool = False) -> None:
        self.watch.record_tool_call(self.run_id, name, args, result, error=error, agent=self.name)


class _WatchedModel:
    """Model of one agent. It has what the agent's own model has."""

    def __init__(self, model: Any, watched: _WatchedAgent) -> None:
        self._model = model
        self._watched = watched
        self._last_note: str | None = None  # while the framework asks for the final answer

    def __getattr__(self, name: str) -> Any:
        if name == "generate_stream":
            return self._streamed(self._model.generate_stream)
        return getattr(self._model, name)

    def __call__(self, *args: Any, **options: Any) -> ChatMessage:
        return self.generate(*args, **options)

    def generate(self, messages: list[Any], stop_sequences: Any = None, **options: Any) -> ChatMessage:
        if self._last_note is not None:
            return self._generated(_with_note(messages, self._last_note), stop_sequences, options)
        advice = self._watched.advice()
        last = self._last(advice, is_action=_ACTION in (stop_sequences or ()))
        return last or self._generated(_with_note(messages, advice.note), stop_sequences, options)

    def _streamed(self, generate_stream: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def stream(messages: list[Any], stop_sequences: Any = None, **options: Any) -> Iterator[Any]:
            advice = self._watched.advice()
            last = self._last(advice, is_action=_ACTION in (stop_sequences or ()))
            if last is not None:
                yield from _deltas(last)
                return
            deltas: list[Any] = []
            with self._watched.calling():
                for delta in generate_stream(
                    _with_note(messages, advice.note), stop_sequences=stop_sequences, **options
                ):
                    deltas.append(delta)
                    yield delta
            self._watched.record_answer(agglomerate_stream_deltas(deltas), self._model_id)

        return stream

    def _last(self, advice: Advice, *, is_action: bool) -> ChatMessage | None:
        """Returns what ends the run in place of an answer of the model; None if it goes on."""
        if advice.refusal:
            text = self._watched.refusal(advice)
            return self._watched.last_answer(text) if is_action else _text_answer(text)
        if advice.without_tools and is_action:
            agent = self._watched.agent
            self._last_note = advice.note or ""
            try:
                return self._watched.last_answer(agent.provide_final_answer(agent.task).content)
            finally:
                self._last_note = None
        return None

    def _generated(self, messages: list[Any], stop_sequences: Any, options: dict[str, Any]) -> ChatMessage:
        with self._watched.calling():
            answer = self._model.generate(messages, stop_sequences=stop_sequences, **options)
        self._watched.record_answer(answer, self._model_id)
        return answer

    @property
    def _model_id(self) -> str | None:
        return getattr(self._model, "model_id", None)


def _with_note(messages: list[Any], note: str | None) -> list[Any]:
    if not note:
        return messages
    content = [{"type": "text", "text": note}]
    return [*messages, ChatMessage(role=MessageRole.USER, content=content)]


def _text_answer(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=text)


def _deltas(message: ChatMessage) -> Iterator[ChatMessageStreamDelta]:
    """Yields an answer as a stream of one item."""
    calls = [
        ChatMessageToolCallStreamDelta(
            index=place,
            id=call.id,
            type=call.type,
            # What comes in pieces is a text.
            function=ChatMessageToolCallFunction(
                name=call.function.name, arguments=json.dumps(call.function.arguments)
            ),
        )
        for place, call in enumerate(message.tool_calls or [])
    ]
    yield ChatMessageStreamDelta(content=message.content or "", tool_calls=calls or None)
