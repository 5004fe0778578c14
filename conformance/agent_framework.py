"""Agents of Microsoft Agent Framework on a chat client of their own kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    UsageDetails,
)

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, TOTAL_TOKENS
from ebbtide.adapters.agent_framework import EbbtideAgentMiddleware

_MOST_CALLS = 100


class _ScriptedClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Answers as the script says, and states tokens."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(function_invocation_configuration={"max_iterations": _MOST_CALLS})
        self.trial = trial

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Any, **_: Any
    ) -> Any:
        if stream:
            return ResponseStream(self._updates(messages, options), finalizer=ChatResponse.from_updates)
        return self._response(messages, options)

    async def _response(self, messages: Sequence[Message], options: Any) -> ChatResponse:
        contents, usage = self._answer(messages, options)
        return ChatResponse(messages=[Message("assistant", contents)], usage_details=usage)

    async def _updates(self, messages: Sequence[Message], options: Any) -> AsyncIterator[ChatResponseUpdate]:
        contents, usage = self._answer(messages, options)
        yield ChatResponseUpdate(role="assistant", contents=contents)
        yield ChatResponseUpdate(role="assistant", contents=[Content.from_usage(usage)])

    def _answer(self, messages: Sequence[Message], options: Any) -> tuple[list[Content], UsageDetails]:
        text = "\n".join(str([content.to_dict() for content in message.contents]) for message in messages)
        reply = self.trial.ask(text, has_tools=bool(options.get("tools")))
        calls = [
            Content.from_function_call(call_id=call.id, name=call.name, arguments=call.args)
            for call in reply.calls
        ]
        usage = UsageDetails(
            input_token_count=INPUT_TOKENS,
            output_token_count=OUTPUT_TOKENS,
            total_token_count=TOTAL_TOKENS,
        )
        return calls or [Content.from_text(reply.text)], usage


class AgentFramework(Harness):
    """Agents of the framework."""

    adapter = EbbtideAgentMiddleware
    modes = ("async", "stream")

    def play(self, adapter: EbbtideAgentMiddleware, trial: Trial, tools: Tools, mode: str) -> None:
        """One agent, run."""
        agent: Any = Agent(client=_ScriptedClient(trial), tools=list(tools), middleware=[adapter])
        response = asyncio.run(_response(agent, mode))
        trial.answer = response.text
        trial.steps = len(response.messages)
        trial.tokens = (response.usage_details or {}).get("total_token_count")


async def _response(agent: Any, mode: str) -> Any:
    if mode == "async":
        return await agent.run(TASK)
    stream = agent.run(TASK, stream=True)
    async for _ in stream:
        pass
    return await stream.get_final_response()


HARNESS = AgentFramework()
