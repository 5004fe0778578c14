"""Strands Agents: a plugin for ``Agent``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Unpack
from weakref import WeakKeyDictionary

from strands import Agent
from strands.hooks import AfterInvocationEvent, AfterToolCallEvent, BeforeInvocationEvent
from strands.interrupt import Interrupt, InterruptException

from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.errors import ConfigError
from ebbtide.supervision.runs.advice import Advice

try:
    from strands.middleware import InvokeModelContext, InvokeModelStage, ModelStopReason
    from strands.plugins import Plugin
except ImportError as error:
    raise ConfigError(f"strands needs a later strands-agents: {error}") from error


class EbbtideStrandsPlugin(Plugin):
    """Plugin that watches invocations: ``Agent(model=model, plugins=[EbbtideStrandsPlugin()])``.

    An invocation of an agent is a run. A note is put before the next call of the model, for that call alone.
    A run that is to end gets its reason as the model's last answer, so that all messages are kept.

    Args:
        asks: True if a person is asked where one should look, and before a loop ends the run, by an
            interrupt of Strands: the agent returns with the stop reason ``interrupt``, and goes on when it
            is called with the answer. Without, the run ends.
    """

    name = "ebbtide"

    def __init__(self, *, asks: bool = False, **options: Unpack[WatchOptions]) -> None:
        super().__init__()
        self.asks = asks
        self.watch = RunWatch(**options)
        self._waiting: WeakKeyDictionary[Agent, str] = (
            WeakKeyDictionary()
        )  # agents that asked, and their runs

    def init_agent(self, agent: Agent) -> None:  # noqa: D102
        agent.add_hook(self._begin, BeforeInvocationEvent)
        agent.add_hook(self._record_tool, AfterToolCallEvent)
        agent.add_hook(self._end, AfterInvocationEvent)
        agent.add_middleware(InvokeModelStage, self._call_model)

    def _begin(self, event: BeforeInvocationEvent) -> None:
        run_id = self._waiting.pop(event.agent, None)
        if run_id is None:
            run_id = self.watch.new_run()
        else:
            self.watch.acknowledge(run_id)
        event.invocation_state[_key(event.agent)] = run_id
        for message in event.messages or ():
            words = [part["text"] for part in message["content"] if "text" in part]
            self.watch.record_message(run_id, words)

    async def _call_model(
        self,
        context: InvokeModelContext,
        handler: Callable[[InvokeModelContext], AsyncIterator[Any]],
    ) -> AsyncIterator[Any]:
        run_id, agent = _run_of(context), context.agent.name
        advice = self.watch.advise(run_id, asks=self.asks)
        if advice.ask and self.asks:
            self._waiting[context.agent] = run_id
            raise InterruptException(
                Interrupt(f"ebbtide:{self.watch.new_run()}", "ebbtide", final_text(advice.verdict))
            )
        if advice.refusal:
            yield _ending(self.watch.last_words(run_id, advice))
            return
        with self.watch.calling(run_id, agent=agent):
            async for item in handler(_advised(context, advice)):
                if isinstance(item, ModelStopReason):
                    usage = _usage(item.usage)
                    model = context.model.get_config().get("model_id")
                    self.watch.record_answer(run_id, item.message, agent=agent, model=model, usage=usage)
                yield item

    def _record_tool(self, event: AfterToolCallEvent) -> None:
        self.watch.record_tool_call(
            _run_of(event),
            event.tool_use["name"],
            event.tool_use["input"],
            [part.get("text", part) for part in event.result.get("content") or ()],
            error=event.exception is not None or event.result.get("status") == "error",
            agent=event.agent.name,
        )

    def _end(self, event: AfterInvocationEvent) -> None:
        if event.agent not in self._waiting:
            self.watch.end(_run_of(event))


def _key(agent: Agent) -> str:
    """Returns the key of an agent's run in the state of an invocation.

    Agents that work together share a state.
    """
    return f"ebbtide_run_{id(agent)}"


def _run_of(event: Any) -> str:
    return str(event.invocation_state.get(_key(event.agent)) or "")


def _advised(context: InvokeModelContext, advice: Advice) -> InvokeModelContext:
    changes: dict[str, Any] = {}
    if advice.note:
        changes["messages"] = _with_note(context.messages, advice.note)
    if advice.without_tools:
        changes["tool_specs"] = []
        changes["tool_choice"] = None
    return context.replace(**changes) if changes else context


def _with_note(messages: list[Any], note: str) -> list[Any]:
    """Returns the messages with one more part in the last one: roles have to alternate."""
    part = {"text": note}
    if not messages or messages[-1]["role"] != "user":
        return [*messages, {"role": "user", "content": [part]}]
    *others, last = messages
    return [*others, {**last, "content": [*last["content"], part]}]


def _usage(usage: Any) -> dict[str, Any]:
    """Returns the usage with cached tokens beside the input.

    Inside it they are where the total does not add them.
    """
    tokens = usage["inputTokens"]
    if tokens + usage["outputTokens"] == usage["totalTokens"]:
        tokens -= usage.get("cacheReadInputTokens", 0) + usage.get("cacheWriteInputTokens", 0)
    return {**usage, "inputTokens": tokens}


def _ending(text: str) -> ModelStopReason:
    return ModelStopReason(
        stop_reason="end_turn",
        message={"role": "assistant", "content": [{"text": text}]},
        usage={"inputTokens": 0, "outputTokens": 0, "totalTokens": 0},
        metrics={"latencyMs": 0},
    )
