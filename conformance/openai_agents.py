"""The OpenAI Agents SDK on its own scripted model."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, ModelProvider, RunConfig, Runner, function_tool
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call
from agents.usage import Usage

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, TOTAL_TOKENS
from ebbtide.adapters.openai_agents import AgentRunEnded, EbbtideHooks

_MOST_TURNS = 100


def _scripted_model(trial: Trial) -> ScriptedModel:
    def respond(call: ModelCall) -> ModelStep:
        reply = trial.ask(str(call.input), has_tools=bool(call.tools))
        output: list[Any] = [function_call(call.name, call.args, call_id=call.id) for call in reply.calls]
        usage = Usage(
            requests=1,
            input_tokens=INPUT_TOKENS,
            output_tokens=OUTPUT_TOKENS,
            total_tokens=TOTAL_TOKENS,
        )
        return ModelStep(output=output or [assistant_message(reply.text)], usage=usage)

    return ScriptedModel([ModelStep.respond(respond) for _ in range(_MOST_TURNS)])


class _ScriptedProvider(ModelProvider):
    def __init__(self, model: ScriptedModel) -> None:
        self.model = model

    def get_model(self, model_name: str | None) -> ScriptedModel:
        del model_name
        return self.model


class OpenAIAgents(Harness):
    """Agents of the SDK, run by its ``Runner``."""

    adapter = EbbtideHooks

    def play(self, adapter: EbbtideHooks, trial: Trial, tools: Tools, mode: str) -> None:
        """One agent, run."""
        agent: Any = Agent(
            name="clerk",
            model="scripted",
            tools=[function_tool(tool) for tool in tools],
        )
        provider = _ScriptedProvider(_scripted_model(trial))
        config = adapter.run_config(RunConfig(tracing_disabled=True, model_provider=provider))
        options: Any = {"hooks": adapter, "max_turns": _MOST_TURNS, "run_config": config}
        try:
            if mode == "sync":
                result: Any = Runner.run_sync(agent, TASK, **options)
            else:
                result = asyncio.run(_result(agent, mode, options))
        except AgentRunEnded as end:
            trial.answer = str(end)
            trial.steps = len(end.run_data.new_items) if end.run_data else 0
        else:
            trial.answer = str(result.final_output)
            trial.steps = len(result.new_items)
            trial.tokens = result.context_wrapper.usage.total_tokens


async def _result(agent: Any, mode: str, options: Any) -> Any:
    if mode == "async":
        return await Runner.run(agent, TASK, **options)
    result = Runner.run_streamed(agent, TASK, **options)
    async for _ in result.stream_events():
        pass
    return result


HARNESS = OpenAIAgents()
