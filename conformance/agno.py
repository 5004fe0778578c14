"""Agno's agents on a scripted model of its own base class."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from agno.agent import Agent, RunOutput
from agno.metrics import MessageMetrics
from agno.models.base import Model
from agno.models.response import ModelResponse

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, TOTAL_TOKENS
from ebbtide.adapters.agno import EbbtideAgno


@dataclass
class _ScriptedAgnoModel(Model):
    """Answers as the script says, in two parts where it streams, and states tokens."""

    id: str = "scripted"
    trial: Any = None

    def invoke(self, messages: list[Any], tools: Any = None, **_: Any) -> ModelResponse:
        text = "\n".join(str(message.content) for message in messages)
        reply = self.trial.ask(text, has_tools=bool(tools))
        usage = MessageMetrics(
            input_tokens=INPUT_TOKENS,
            output_tokens=OUTPUT_TOKENS,
            total_tokens=TOTAL_TOKENS,
        )
        return ModelResponse(
            role="assistant", content=reply.text or None, tool_calls=reply.openai_calls, response_usage=usage
        )

    async def ainvoke(self, *args: Any, **others: Any) -> ModelResponse:
        return _ScriptedAgnoModel.invoke(self, *args, **others)

    def invoke_stream(self, *args: Any, **others: Any) -> Iterator[ModelResponse]:
        response = _ScriptedAgnoModel.invoke(self, *args, **others)
        text, response.content = response.content, None
        yield ModelResponse(content=text)
        yield response

    async def ainvoke_stream(self, *args: Any, **others: Any) -> AsyncIterator[ModelResponse]:
        for response in _ScriptedAgnoModel.invoke_stream(self, *args, **others):
            yield response

    def _parse_provider_response(self, response: Any, **_: Any) -> ModelResponse:
        return response

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return response


class Agno(Harness):
    """Agents of Agno."""

    adapter = EbbtideAgno

    def play(self, adapter: EbbtideAgno, trial: Trial, tools: Tools, mode: str) -> None:
        """One run of an agent."""
        model = adapter.attach(_ScriptedAgnoModel(trial=trial))
        agent = Agent(model=model, tools=list(tools), telemetry=False)
        if mode == "sync":
            output = agent.run(TASK)
        elif mode == "async":
            output = asyncio.run(agent.arun(TASK))
        else:
            items = list(agent.run(TASK, stream=True, yield_run_output=True))
            output = next(item for item in items if isinstance(item, RunOutput))
        trial.answer = str(output.content)
        trial.steps = len(output.messages or ())
        trial.tokens = output.metrics.total_tokens


HARNESS = Agno()
