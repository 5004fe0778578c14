"""Haystack's agents on its mock of a chat generator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, StreamingChunk, ToolCall
from haystack.tools import create_tool_from_function

from conformance.harness import Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, Script
from ebbtide.adapters.haystack import EbbtideHaystackHooks


def _generator(trial: Trial, script: Script) -> MockChatGenerator:
    def answer(messages: list[ChatMessage], tools: Any) -> ChatMessage:
        parts = [*(message.text or "" for message in messages)]
        parts += [str(item.result) for message in messages for item in message.tool_call_results]
        reply = trial.ask(script, "\n".join(parts), has_tools=bool(tools))
        number = len(trial.inputs)
        calls = [
            ToolCall(name, dict(args), id=f"call_{number}_{place}")
            for place, (name, args) in enumerate(reply.calls)
        ]
        usage = {
            "prompt_tokens": INPUT_TOKENS,
            "completion_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        }
        return ChatMessage.from_assistant(reply.text or None, tool_calls=calls, meta={"usage": usage})

    return MockChatGenerator(response_fn=answer)


def _ignore(_: StreamingChunk) -> None:
    """Takes the parts of an answer."""


class Haystack:
    """Agents of Haystack."""

    modes = ("sync", "async", "stream")
    calls = 4
    takes_tools_away = True
    counts_tokens = True
    has_parallel_calls = True

    def adapter(self, **options: Any) -> EbbtideHaystackHooks:
        """The hooks."""
        return EbbtideHaystackHooks(**options)

    def run(
        self, adapter: EbbtideHaystackHooks, script: Script, tools: Sequence[Callable[..., str]], mode: str
    ) -> Trial:
        """One run of an agent."""
        trial = Trial()
        agent = Agent(
            chat_generator=_generator(trial, script),
            tools=[create_tool_from_function(function) for function in tools],
            hooks=adapter,
            streaming_callback=_ignore if mode == "stream" else None,
        )
        task = [ChatMessage.from_user(TASK)]
        result = asyncio.run(agent.run_async(task)) if mode == "async" else agent.run(task)
        trial.answer = result["last_message"].text or ""
        trial.steps = len(result["messages"])
        trial.tokens = result["token_usage"].get("total_tokens")
        return trial


HARNESS = Haystack()
