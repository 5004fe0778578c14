"""LlamaIndex: agents and agent workflows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, Unpack

from llama_index.core.agent.react.types import ResponseReasoningStep
from llama_index.core.agent.workflow import AgentOutput, ToolCallResult
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory
from llama_index.core.tools import AsyncBaseTool
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent

from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.errors import ConfigError
from ebbtide.supervision.runs.advice import Advice

_W = TypeVar("_W")
_RUN = "ebbtide_run"  # where the store of a run has its id
_ASKED = "ebbtide_asked"  # and how often a person was asked; an odd number while they have not answered


class EbbtideLlamaIndex:
    """Watch of the runs of agents: ``agent = EbbtideLlamaIndex().attach(FunctionAgent(tools=tools))``.

    A note is put before the next call of the model, for that call alone. A run that is to end gets its reason
    as the model's last answer, so that the memory and the calls of tools are kept.

    Args:
        asks: True if a person is asked where one should look, and before a loop ends it: the run sends an
            `InputRequiredEvent`, and goes on with a `HumanResponseEvent`. Without, the run ends.
    """

    def __init__(self, *, asks: bool = False, **options: Unpack[WatchOptions]) -> None:
        self.asks = asks
        self.watch = RunWatch(**options)

    def attach(self, workflow: _W) -> _W:
        """Watches every run of an agent, or of all agents of a workflow.

        Args:
            workflow: A `FunctionAgent`, `ReActAgent` or `CodeActAgent`, or an `AgentWorkflow` of them.

        Returns:
            The same object.

        Raises:
            ConfigError: It is none of them, or is watched already.
        """
        agents = getattr(workflow, "agents", None)
        for agent in agents.values() if isinstance(agents, dict) else [workflow]:
            if not isinstance(agent, BaseWorkflowAgent):
                raise ConfigError(f"{type(agent).__name__} is not a LlamaIndex agent that takes steps")
            if "take_step" in vars(agent):
                raise ConfigError(f"{agent.name} is watched already")
            step = _WatchedStep(self, agent, agent.take_step, agent.handle_tool_call_results)
            # The agent is a pydantic model, which takes no other attributes than its fields.
            object.__setattr__(agent, "take_step", step.take)
            object.__setattr__(agent, "handle_tool_call_results", step.handle_results)
        return workflow


@dataclass(frozen=True, slots=True)
class _WatchedStep:
    """The step of an agent, which calls the model once."""

    adapter: EbbtideLlamaIndex
    agent: BaseWorkflowAgent
    take_step: Callable[..., Awaitable[AgentOutput]]
    handle_tool_call_results: Callable[..., Awaitable[None]]

    async def take(
        self,
        ctx: Context,
        llm_input: list[ChatMessage],
        tools: Sequence[AsyncBaseTool],
        memory: BaseMemory,
    ) -> AgentOutput:
        watch = self.adapter.watch
        run_id = await self._run_of(ctx)
        advice = await self._advice(ctx, run_id)
        if advice.refusal:
            return await self._ended(ctx, watch.last_words(run_id, advice))
        toolset = [] if advice.without_tools else tools
        with watch.calling(run_id, agent=self.agent.name):
            output = await self._step(ctx, llm_input, toolset, memory, advice.note)
        watch.record_answer(
            run_id,
            output.response.content or "",
            agent=self.agent.name,
            model=_model_of(self.agent, output.raw),
            usage=output.raw or {},
        )
        if not output.tool_calls and not output.retry_messages:
            watch.end(run_id)
        return output

    async def handle_results(self, ctx: Context, results: list[ToolCallResult], memory: BaseMemory) -> None:
        run_id = await self._run_of(ctx)
        for result in results:
            self.adapter.watch.record_tool_call(
                run_id,
                result.tool_name,
                result.tool_kwargs,
                result.tool_output.content,
                error=result.tool_output.is_error,
                agent=self.agent.name,
            )
        await self.handle_tool_call_results(ctx, results, memory)

    async def _run_of(self, ctx: Context) -> str:
        """Returns the run; a context that is used again begins another one with every message of a person."""
        run_id = await ctx.store.get(_RUN, default=None)
        is_first = not await ctx.store.get("num_iterations", default=0)
        if run_id is None or (is_first and not await ctx.store.get(_ASKED, default=0) % 2):
            run_id = self.adapter.watch.new_run()
            await ctx.store.set(_RUN, run_id)
            self.adapter.watch.record_message(run_id, await ctx.store.get("user_msg_str", default=None))
        return str(run_id)

    async def _advice(self, ctx: Context, run_id: str) -> Advice:
        """Returns what to do before a call; if a person is asked first, once they have answered."""
        watch = self.adapter.watch
        advice = watch.advise(run_id, asks=self.adapter.asks)
        if advice.ask and self.adapter.asks:
            times = await ctx.store.get(_ASKED, default=0) | 1
            await ctx.store.set(_ASKED, times)
            # The whole step is taken again when the answer is there, and then this returns at once.
            await ctx.wait_for_event(
                HumanResponseEvent,
                waiter_event=InputRequiredEvent(prefix=final_text(advice.verdict)),
                waiter_id=f"ebbtide {times}",
                timeout=None,
            )
            await ctx.store.set(_ASKED, times + 1)
            watch.acknowledge(run_id)
            advice = watch.advise(run_id)
        return advice

    async def _step(
        self,
        ctx: Context,
        llm_input: list[ChatMessage],
        tools: Sequence[AsyncBaseTool],
        memory: BaseMemory,
        note: str | None,
    ) -> AgentOutput:
        if note is None:
            return await self.take_step(ctx, llm_input, tools, memory)
        message = ChatMessage(role="user", content=note)
        key = getattr(self.agent, "scratchpad_key", None)
        if key is None:
            return await self.take_step(ctx, [*llm_input, message], tools, memory)
        await ctx.store.set(key, [*await ctx.store.get(key, default=[]), message])
        try:
            return await self.take_step(ctx, llm_input, tools, memory)
        finally:
            messages = await ctx.store.get(key, default=[])
            await ctx.store.set(key, [other for other in messages if other.content != note])

    async def _ended(self, ctx: Context, text: str) -> AgentOutput:
        message = ChatMessage(role="assistant", content=text)
        # What is kept here goes into the memory at the end of the run.
        for name, item in (
            ("scratchpad_key", message),
            ("reasoning_key", ResponseReasoningStep(thought="", response=text)),
        ):
            key = getattr(self.agent, name, None)
            if key is not None:
                await ctx.store.set(key, [*await ctx.store.get(key, default=[]), item])
        return AgentOutput(response=message, tool_calls=[], current_agent_name=self.agent.name)


def _model_of(agent: BaseWorkflowAgent, raw: Any) -> str | None:
    """Returns the model of an agent, if its answers do not name it."""
    if isinstance(raw, dict) and raw.get("model"):
        return str(raw["model"])
    name = agent.llm.metadata.model_name
    return None if name == "unknown" else name
