"""Agents of AG2 on a client of their own kind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from ag2 import Agent
from ag2.events import ModelResponse, ToolCallEvent, ToolCallsEvent, Usage
from ag2.events.types import ModelMessage
from ag2.testing import TestConfig

from conformance.harness import Harness, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, TOTAL_TOKENS, Script
from ebbtide.adapters.ag2 import EbbtideTurns


class _ScriptedConfig(TestConfig):
    """Makes the model that the script is."""

    def __init__(self, trial: Trial, script: Script) -> None:
        super().__init__()
        self.trial = trial
        self.script = script

    def create(self) -> Any:
        async def client(messages: Sequence[Any], context: Any, **options: Any) -> ModelResponse:
            del context
            reply = self.trial.ask(self.script, str(list(messages)), has_tools=bool(options.get("tools")))
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

    def run(
        self, adapter: EbbtideTurns, script: Script, tools: Sequence[Callable[..., str]], mode: str
    ) -> Trial:
        """One agent, asked."""
        del mode
        trial = Trial()
        config = _ScriptedConfig(trial, script)
        asyncio.run(_ask(Agent("clerk", config=config, tools=list(tools), middleware=[adapter]), trial))
        return trial


async def _ask(agent: Any, trial: Trial) -> None:
    reply = await agent.ask(TASK)
    trial.answer = reply.body or ""
    events = list(await reply.context.stream.history.get_events())
    responses = [event for event in events if isinstance(event, ModelResponse)]
    trial.steps = len(events)
    trial.tokens = sum(int(response.usage.total_tokens or 0) for response in responses)


HARNESS = AG2()
