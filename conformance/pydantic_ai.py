"""Agents of Pydantic AI on its function model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel, FunctionStreamedResponse
from pydantic_ai.usage import RequestUsage, UsageLimits

from conformance.harness import Answer, Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK
from ebbtide.adapters.pydantic_ai import EbbtideCapability

_LIMITS = UsageLimits(request_limit=100)


def _usage() -> RequestUsage:
    return RequestUsage(input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS)


class _StatedResponse(FunctionStreamedResponse):
    """States the tokens of the script, where the function model would guess them from the words."""

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        async for event in super()._get_event_iterator():
            yield event
        self._usage = _usage()


class _StatedModel(FunctionModel):
    @asynccontextmanager
    async def request_stream(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        async with super().request_stream(*args, **options) as response:
            yield _StatedResponse(
                model_request_parameters=response.model_request_parameters,
                _model_name=self.model_name,
                _iter=response._iter,  # noqa: SLF001 - nothing else has the stream
            )


def _scripted_model(trial: Trial) -> FunctionModel:
    def ask(messages: list[ModelMessage], info: AgentInfo) -> Answer:
        return trial.ask(str(messages), has_tools=bool(info.function_tools))

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        reply = ask(messages, info)
        calls = [ToolCallPart(call.name, call.args, tool_call_id=call.id) for call in reply.calls]
        return ModelResponse(parts=calls or [TextPart(reply.text)], usage=_usage())

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        response = respond(messages, info)
        for place, part in enumerate(response.parts):
            if isinstance(part, TextPart):
                yield part.content
            else:
                yield {
                    place: DeltaToolCall(
                        part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id
                    )
                }

    return _StatedModel(respond, stream_function=stream)


class PydanticAI(Harness):
    """Agents of Pydantic AI."""

    adapter = EbbtideCapability

    def play(self, adapter: EbbtideCapability, trial: Trial, tools: Tools, mode: str) -> None:
        """One agent, run."""
        agent: Any = Agent(_scripted_model(trial), tools=list(tools), capabilities=[adapter])
        if mode == "sync":
            result: Any = agent.run_sync(TASK, usage_limits=_LIMITS)
            trial.answer = result.output
        else:
            result, trial.answer = asyncio.run(_result(agent, mode))
        trial.steps = len(result.all_messages())
        trial.tokens = result.usage.total_tokens


async def _result(agent: Any, mode: str) -> tuple[Any, str]:
    if mode == "async":
        result = await agent.run(TASK, usage_limits=_LIMITS)
        return result, result.output
    async with agent.run_stream(TASK, usage_limits=_LIMITS) as result:
        return result, await result.get_output()


HARNESS = PydanticAI()
