"""Haystack's agents on its mock of a chat generator."""

from __future__ import annotations

import asyncio
from typing import Any

from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, StreamingChunk, ToolCall
from haystack.tools import create_tool_from_function

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import OPENAI_USAGE, TASK
from ebbtide.adapters.haystack import EbbtideHaystackHooks


def _generator(trial: Trial) -> MockChatGenerator:
    def answer(messages: list[ChatMessage], tools: Any) -> ChatMessage:
        parts = [*(message.text or "" for message in messages)]
        parts += [str(item.result) for message in messages for item in message.tool_call_results]
        reply = trial.ask("\n".join(parts), has_tools=bool(tools))
        calls = [ToolCall(call.name, call.args, id=call.id) for call in reply.calls]
        return ChatMessage.from_assistant(reply.text or None, tool_calls=calls, meta={"usage": OPENAI_USAGE})

    return MockChatGenerator(response_fn=answer)


def _ignore(_: StreamingChunk) -> None:
    """Takes the parts of an answer."""


class Haystack(Harness):
    """Agents of Haystack."""

    adapter = EbbtideHaystackHooks

    def play(self, adapter: EbbtideHaystackHooks, trial: Trial, tools: Tools, mode: str) -> None:
        """One run of an agent."""
        agent = Agent(
            chat_generator=_generator(trial),
            tools=[create_tool_from_function(function) for function in tools],
            hooks=adapter,
            streaming_callback=_ignore if mode == "stream" else None,
        )
        task = [ChatMessage.from_user(TASK)]
        result = asyncio.run(agent.run_async(task)) if mode == "async" else agent.run(task)
        trial.answer = result["last_message"].text or ""
        trial.steps = len(result["messages"])
        trial.tokens = result["token_usage"].get("total_tokens")


HARNESS = Haystack()
