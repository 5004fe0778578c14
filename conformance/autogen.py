"""AutoGen's assistant on a replaying client that asks the script."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TaskResult
from autogen_core import EVENT_LOGGER_NAME, FunctionCall
from autogen_core.models import CreateResult, ModelInfo, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK
from ebbtide.adapters.autogen import EbbtideClients

_MOST_CALLS = 100
_INFO = ModelInfo(
    vision=False, function_calling=True, json_output=False, family="unknown", structured_output=False
)


class _ScriptedClient(ReplayChatCompletionClient):
    """Asks the script for the next answer, and replays it."""

    def __init__(self, trial: Trial) -> None:
        super().__init__([], model_info=_INFO)
        self.trial = trial

    async def create(self, messages: Sequence[Any], **options: Any) -> CreateResult:
        self._ask(messages, options)
        return await super().create(messages, **options)

    async def create_stream(self, messages: Sequence[Any], **options: Any) -> AsyncIterator[Any]:
        self._ask(messages, options)
        async for item in super().create_stream(messages, **options):
            yield item

    def _ask(self, messages: Sequence[Any], options: dict[str, Any]) -> None:
        reply = self.trial.ask(str(messages), has_tools=bool(options.get("tools")))
        calls = [
            FunctionCall(id=call.id, name=call.name, arguments=json.dumps(call.args)) for call in reply.calls
        ]
        self.chat_completions.append(
            CreateResult(
                finish_reason="function_calls" if calls else "stop",
                content=calls or reply.text,
                usage=RequestUsage(INPUT_TOKENS, OUTPUT_TOKENS),
                cached=False,
            )
        )


class AutoGen(Harness):
    """The assistant of AgentChat."""

    adapter = EbbtideClients
    modes = ("async", "stream")

    def play(self, adapter: EbbtideClients, trial: Trial, tools: Tools, mode: str) -> None:
        """One assistant, run."""
        logging.getLogger(EVENT_LOGGER_NAME).setLevel(logging.ERROR)  # it warns of every call of a tool
        agent = AssistantAgent(
            "clerk",
            model_client=adapter.client(_ScriptedClient(trial)),
            tools=list(tools),
            max_tool_iterations=_MOST_CALLS,
            model_client_stream=mode == "stream",
        )
        result = asyncio.run(_result(agent, mode))
        trial.answer = result.messages[-1].to_text()
        trial.steps = len(result.messages)
        usages = [message.models_usage for message in result.messages if message.models_usage]
        trial.tokens = sum(usage.prompt_tokens + usage.completion_tokens for usage in usages)


async def _result(agent: AssistantAgent, mode: str) -> TaskResult:
    if mode == "async":
        return await agent.run(task=TASK)
    *_, result = [item async for item in agent.run_stream(task=TASK)]
    return result


HARNESS = AutoGen()
