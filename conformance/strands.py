"""Agents of Strands on a scripted model of its own base class."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from strands import Agent, tool
from strands.models import Model

from conformance.harness import Answer, Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, TOTAL_TOKENS
from ebbtide.adapters.strands import EbbtideStrandsPlugin


class _ScriptedStrandsModel(Model):
    """Answers as the script says, and states tokens."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial

    def update_config(self, **_: Any) -> None:
        """Has none."""

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "scripted"}

    async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield

    async def stream(
        self, messages: list[Any], tool_specs: list[Any] | None = None, *_: Any, **__: Any
    ) -> AsyncIterator[Any]:
        reply = self.trial.ask(json.dumps(messages, default=str), has_tools=bool(tool_specs))
        yield {"messageStart": {"role": "assistant"}}
        for item in _blocks(reply):
            yield item
        yield {"messageStop": {"stopReason": "tool_use" if reply.calls else "end_turn"}}
        usage = {
            "inputTokens": INPUT_TOKENS,
            "outputTokens": OUTPUT_TOKENS,
            "totalTokens": TOTAL_TOKENS,
        }
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


def _blocks(reply: Answer) -> list[Any]:
    items: list[Any] = []
    if reply.text:
        items += [
            {"contentBlockStart": {"start": {}}},
            {"contentBlockDelta": {"delta": {"text": reply.text}}},
        ]
        items.append({"contentBlockStop": {}})
    for call in reply.calls:
        start = {"toolUse": {"toolUseId": call.id, "name": call.name}}
        items.append({"contentBlockStart": {"start": start}})
        items.append({"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(call.args)}}}})
        items.append({"contentBlockStop": {}})
    return items


class Strands(Harness):
    """Agents of Strands."""

    adapter = EbbtideStrandsPlugin

    def play(self, adapter: EbbtideStrandsPlugin, trial: Trial, tools: Tools, mode: str) -> None:
        """One invocation."""
        model = _ScriptedStrandsModel(trial)
        agent = Agent(
            model=model,
            tools=[tool(function) for function in tools],
            plugins=[adapter],
            callback_handler=None,
        )
        if mode == "sync":
            result = agent(TASK)
        elif mode == "async":
            result = asyncio.run(agent.invoke_async(TASK))
        else:
            result = asyncio.run(_last(agent))
        trial.answer = str(result)
        trial.steps = len(agent.messages)
        trial.tokens = result.metrics.accumulated_usage["totalTokens"]


async def _last(agent: Agent) -> Any:
    items = [item async for item in agent.stream_async(TASK)]
    return next(item["result"] for item in reversed(items) if "result" in item)


HARNESS = Strands()
