"""Agents of smolagents on a model of their own kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from smolagents import ActionStep, FinalAnswerStep, Model, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
)
from smolagents.monitoring import AgentLogger, LogLevel, TokenUsage

from conformance.harness import AskedCall, Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK
from ebbtide.adapters.smolagents import EbbtideSteps

_MOST_STEPS = 100


class _ScriptedModel(Model):
    """Answers as the script says, and states tokens. The words of an answer are the call of a tool, too."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(model_id="scripted")
        self.trial = trial

    def generate(self, messages: list[Any], *_: Any, **options: Any) -> ChatMessage:
        tools = options.get("tools_to_call_from")
        reply = self.trial.ask(str(messages), has_tools=bool(tools))
        usage = TokenUsage(input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS)
        message = ChatMessage(role=MessageRole.ASSISTANT, content=reply.text, token_usage=usage)
        if tools:
            calls = reply.calls or (AskedCall("final", "final_answer", {"answer": reply.text}),)
            message.tool_calls = [
                ChatMessageToolCall(
                    id=call.id,
                    type="function",
                    function=ChatMessageToolCallFunction(name=call.name, arguments=call.args),
                )
                for call in calls
            ]
        return message

    def generate_stream(self, messages: list[Any], *_: Any, **options: Any) -> Iterator[Any]:
        message = self.generate(messages, **options)
        for call in message.tool_calls or []:
            call.function.arguments = json.dumps(call.function.arguments)
        yield ChatMessageStreamDelta(content=message.content)
        calls = [
            ChatMessageToolCallStreamDelta(index=place, id=call.id, type=call.type, function=call.function)
            for place, call in enumerate(message.tool_calls or [])
        ]
        yield ChatMessageStreamDelta(content="", tool_calls=calls, token_usage=message.token_usage)


class Smolagents(Harness):
    """Agents that call tools."""

    adapter = EbbtideSteps
    modes = ("sync", "stream")

    def play(self, adapter: EbbtideSteps, trial: Trial, tools: Tools, mode: str) -> None:
        """One agent, run."""
        agent: Any = adapter.attach(
            ToolCallingAgent(
                tools=[tool(_documented(function)) for function in tools],
                model=_ScriptedModel(trial),
                max_steps=_MOST_STEPS,
                logger=_quiet_logger(),
                stream_outputs=mode == "stream",
            )
        )
        if mode == "sync":
            trial.answer = str(agent.run(TASK))
        else:
            *_, last = agent.run(TASK, stream=True)
            trial.answer = str(last.output) if isinstance(last, FinalAnswerStep) else ""
        trial.steps = len(agent.memory.steps)
        trial.tokens = sum(
            step.token_usage.total_tokens
            for step in agent.memory.steps
            if isinstance(step, ActionStep) and step.token_usage
        )


def _quiet_logger() -> AgentLogger:
    logger = AgentLogger(LogLevel.OFF)
    logger.console.quiet = True  # or a stream is shown all the same
    return logger


def _documented(function: Callable[..., str]) -> Callable[..., str]:
    """The framework wants every argument described."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    lines = "".join(f"\n    {name}: Its {name}." for name in names)
    function.__doc__ = f"{function.__doc__}\n\nArgs:{lines}" if lines else function.__doc__
    return function


HARNESS = Smolagents()
