"""LlamaIndex' function agents on its mock of a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, AgentStream, FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.llms.mock import MockFunctionCallingLLM

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK
from ebbtide.adapters.llamaindex import EbbtideLlamaIndex

_RAW = {"usage": {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS}}


class _ScriptedFunctionLLM(MockFunctionCallingLLM):
    """The mock, with what a provider's answer states."""

    def chat(self, messages: Sequence[ChatMessage], **others: Any) -> ChatResponse:
        response = super().chat(messages, **others)
        response.raw = _RAW
        return response

    async def astream_chat(self, messages: Sequence[ChatMessage], **others: Any) -> Any:
        responses = await super().astream_chat(messages, **others)

        async def stream() -> AsyncIterator[ChatResponse]:
            async for response in responses:
                response.raw = _RAW
                yield response

        return stream()


def _model(trial: Trial) -> _ScriptedFunctionLLM:
    def answer(messages: Sequence[ChatMessage], **others: Any) -> ChatMessage:
        text = "\n".join(str(message.content) for message in messages)
        reply = trial.ask(text, has_tools=bool(others.get("tools")))
        blocks = [
            ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=call.args)
            for call in reply.calls
        ]
        return (
            ChatMessage(role="assistant", blocks=blocks)
            if blocks
            else ChatMessage(reply.text, role="assistant")
        )

    return _ScriptedFunctionLLM(response_generator=answer, is_chat_model=True)


class LlamaIndex(Harness):
    """A function agent of LlamaIndex; its runs are asynchronous."""

    adapter = EbbtideLlamaIndex
    modes = ("async", "stream")

    def play(self, adapter: EbbtideLlamaIndex, trial: Trial, tools: Tools, mode: str) -> None:
        """One run of an agent."""
        agent = FunctionAgent(name="finder", tools=list(tools), llm=_model(trial), streaming=mode == "stream")
        output = asyncio.run(_output(adapter.attach(agent)))
        trial.answer = output.response.content or ""
        trial.steps = len(output.tool_calls)


async def _output(agent: FunctionAgent) -> AgentOutput:
    handler = agent.run(TASK, max_iterations=100)
    async for item in handler.stream_events():
        if isinstance(item, AgentStream):
            continue
    return await handler


HARNESS = LlamaIndex()
