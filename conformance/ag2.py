"""Agents of AG2 on a client of their own kind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from ag2 import Agent
from ag2.events import ModelResponse, ToolCallEvent, ToolCallsEvent, Usage
from ag2.events.types import ModelMessage
from ag2.testing import TestConfig

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, TOTAL_TOKENS
from ebbtide.adapters.ag2 import EbbtideTurns


class _ScriptedConfig(TestConfig):
    """Makes the model that the script is."""

    def __init__(self, trial: Trial) -> None:
        super().__init__()
        self.trial = trial

    def create(self) -> Any:
        async def client(messages: Sequence[Any], context: Any, **options: Any) -> ModelResponse:
            del context
            reply = self.trial.ask(str(list(messages)), has_tools=bool(options.get("tools")))
            usage = Usage(
                prompt_tokens=INPUT_TOKENS,
                completion_tokens=OUTPUT_TOKENS,
                total_tokens=TOTAL_TOKENS,
            )
            if not reply.calls:
                return ModelResponse(ModelMessage(reply.text), usage=usage)
            calls = [
                ToolCallEvent(call.name, arguments=json.dumps(call.args), id=call.id) for call in reply.calls
            ]
            return ModelResponse(tool_calls=ToolCallsEvent(calls), usage=usage)

        return client


class AG2(Harness):
    """Agents of AG2."""

    adapter = EbbtideTurns
    modes = ("async",)

    def play(self, adapter: EbbtideTurns, trial: Trial, tools: Tools, mode: str) -> None:
        """One agent, asked."""
        del mode
        config = _ScriptedConfig(trial)
        asyncio.run(_ask(Agent("clerk", config=config, tools=list(tools), middleware=[adapter]), trial))


async def _ask(agent: Any, trial: Trial) -> None:
    reply = await agent.ask(TASK)
    trial.answer = reply.body or ""
    events = list(await reply.context.stream.history.get_events())
    responses = [event for event in events if isinstance(event, ModelResponse)]
    trial.steps = len(events)
    trial.tokens = sum(int(response.usage.total_tokens or 0) for response in responses)


HARNESS = AG2()
