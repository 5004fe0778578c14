"""OpenAI Agents SDK: hooks for ``Runner``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from agents import (
    Agent,
    AgentsException,
    Model,
    ModelProvider,
    ModelResponse,
    RunConfig,
    RunContextWrapper,
    RunHooks,
)
from agents.tool_context import ToolContext

from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.run_watch import RunWatch, WatchOptions, require_parts
from ebbtide.errors import RunEnded
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.verdict import Verdict

_MARK = "_ebbtide_run"  # on the usage, which all contexts of a run share


@dataclass(slots=True)
class _Run:
    """A run, with the agents that are tools: the chain of each call of a tool that one of them asked for."""

    run_id: str
    is_new: bool = True
    agent: object = None  # that works on it; those that are tools apart
    chains: dict[str, str] = field(default_factory=dict)


class AgentRunEnded(AgentsException, RunEnded):
    """Error that ends a run. Like every error of the SDK it has what was done so far in ``run_data``.

    Args:
        text: Reason in words for a person.
        verdict: Verdict that ended it.
        spent: Standing of the run; None if that is not known, or its caller goes on.
    """

    def __init__(self, text: str, verdict: Verdict, run_id: str, spent: RunStanding | None) -> None:
        AgentsException.__init__(self, text)
        RunEnded.__init__(self, verdict, run_id=run_id, spent=spent)
        self._text = text

    def __str__(self) -> str:
        return self._text


class EbbtideHooks(RunHooks[Any]):
    """Hooks that watch runs: ``await Runner.run(agent, task, hooks=EbbtideHooks())``.

    A note is put before the next call of the model, for that call alone. A run that is to end raises
    `AgentRunEnded`, as a run with too many turns raises an error of the SDK. Agents that are tools are
    watched where they have the hooks too, ``agent.as_tool(..., hooks=hooks)``: they belong to the run that
    calls them.

    Hooks cannot take tools away. The configuration that `run_config` gives can, and so can a model that
    `without_tools_at_last` gives; without both, a note before its last call asks the model to answer now.

    Args:
        model: The model, where ``RunConfig`` sets one for all agents; otherwise each agent names its own.

    Raises:
        ConfigError: The SDK is too old, or an option is wrong.
    """

    def __init__(self, *, model: str | None = None, **options: Unpack[WatchOptions]) -> None:
        require_parts(RunHooks, ["on_llm_start"], "needs a later openai-agents")
        self.model = model
        self.watch = RunWatch(**options)

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """Returns a configuration of a run whose models get no tools in their last call.

        It reaches the models that agents name. An agent that has a model itself needs
        `without_tools_at_last`.

        Args:
            config: The one to start from; None is that of the SDK.
        """
        config = config or RunConfig()
        return replace(config, model_provider=_Provider(config.model_provider))

    @staticmethod
    def without_tools_at_last(model: Any) -> Any:
        """Returns a model like the one that is given, which gets no tools in the last call of a run.

        Args:
            model: A ``Model`` of the SDK.
        """
        return _LastCallModel(model)

    async def on_llm_start(  # noqa: D102
        self,
        context: RunContextWrapper[Any],
        agent: Agent[Any],
        system_prompt: str | None,
        input_items: list[Any],
    ) -> None:
        del system_prompt
        run, chain = self._run_of(context), _chain_of(context, agent)
        if run.is_new:
            run.is_new = False
            for words in _latest_words(input_items):
                self.watch.record_message(run.run_id, words)
        if chain is None:
            run.agent = agent
        advice = self.watch.advise(run.run_id, agent=chain)
        if advice.refusal:
            # Of an agent that is a tool, that one ends alone: its caller goes on.
            standing = None if chain else self.watch.end(run.run_id)
            text = final_text(advice.verdict, standing)
            raise AgentRunEnded(text, advice.verdict, run.run_id, standing)
        if advice.note and isinstance(input_items, list):
            note = _LastNote if advice.without_tools else dict
            input_items.append(note(role="user", content=advice.note))

    async def on_llm_end(  # noqa: D102
        self, context: RunContextWrapper[Any], agent: Agent[Any], response: ModelResponse
    ) -> None:
        with self.watch.guarded():
            run, chain = self._run_of(context), _chain_of(context, agent)
            model = self.model or (agent.model if isinstance(agent.model, str) else None)
            self.watch.record_answer(run.run_id, response, agent=chain or agent.name, model=model)
            if chain:
                ids = (getattr(item, "call_id", None) for item in response.output)
                run.chains.update((call_id, chain) for call_id in ids if call_id)

    async def on_agent_end(self, context: RunContextWrapper[Any], agent: Any, output: object) -> None:  # noqa: D102
        del output
        run = self._run_of(context)
        if agent is run.agent:
            self.watch.end(run.run_id)

    async def on_tool_end(  # noqa: D102
        self, context: RunContextWrapper[Any], agent: Any, tool: Any, result: object
    ) -> None:
        run = self._run_of(context)
        chain = run.chains.pop(getattr(context, "tool_call_id", ""), None)
        args = getattr(context, "tool_arguments", None)
        self.watch.record_tool_call(run.run_id, tool.name, args, result, agent=chain or agent.name)

    async def on_handoff(self, context: RunContextWrapper[Any], from_agent: Any, to_agent: Any) -> None:  # noqa: D102
        # A tool to the model, with an answer like this.
        name, answer = f"transfer_to_{to_agent.name}", {"assistant": to_agent.name}
        run, chain = self._run_of(context), _chain_of(context, from_agent)
        self.watch.record_tool_call(run.run_id, name, {}, answer, agent=chain or from_agent.name)

    def _run_of(self, context: RunContextWrapper[Any]) -> _Run:
        run = getattr(context.usage, _MARK, None)
        if isinstance(run, _Run):
            return run
        run = _Run(self.watch.new_run())
        with suppress(Exception):
            setattr(context.usage, _MARK, run)
        return run


class _LastNote(dict[str, str]):
    """Note before the last call of a model, by which that call is recognised."""


class _LastCallModel(Model):
    """Model that does what another one does, and gets no tools in the last call of a run."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def __class__(self) -> Any:
        return type(self._model)  # the SDK asks for the class of a model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def get_response(self, *args: Any, **options: Any) -> Any:
        args, options = _call(self._model.get_response, args, options)
        return await self._model.get_response(*args, **options)

    def stream_response(self, *args: Any, **options: Any) -> Any:
        args, options = _call(self._model.stream_response, args, options)
        return self._model.stream_response(*args, **options)

    def get_retry_advice(self, request: Any) -> Any:
        return self._model.get_retry_advice(request)

    async def close(self) -> None:
        await self._model.close()

    async def _cleanup_on_run_end(self, owner: object) -> None:
        clean = getattr(self._model, "_cleanup_on_run_end", None)
        if clean is not None:
            await clean(owner)


class _Provider(ModelProvider):
    """Provider of another provider's models, without tools in their last call."""

    def __init__(self, provider: ModelProvider) -> None:
        self._provider = provider
        self._models: dict[int, _LastCallModel] = {}  # by the id of the model, which each keeps alive

    def get_model(self, model_name: str | None) -> Any:
        model = self._provider.get_model(model_name)
        return self._models.setdefault(id(model), _LastCallModel(model))

    async def aclose(self) -> None:
        await self._provider.aclose()


def _call(
    method: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns the arguments of a call of a model; those of the last call have no tools."""
    with suppress(Exception):  # a model of another form is called as it is
        call = inspect.signature(method).bind(*args, **options)
        items = call.arguments["input"]
        if isinstance(items, list) and items and isinstance(items[-1], _LastNote):
            settings = replace(call.arguments["model_settings"], tool_choice=None, parallel_tool_calls=None)
            call.arguments.update(tools=[], handoffs=[], model_settings=settings)
            return call.args, call.kwargs
    return args, options


def _chain_of(context: RunContextWrapper[Any], agent: Any) -> str | None:
    """Returns the chain of an agent: None if agents hand over and take turns; tools work at the same time."""
    return f"{agent.name} {context.tool_call_id}" if isinstance(context, ToolContext) else None


def _latest_words(items: list[Any]) -> list[object]:
    """Returns what people have said since the model last spoke."""
    words: list[object] = []
    for item in reversed(items):
        role = item.get("role") if isinstance(item, dict) else None
        if role == "user":
            words.append(item.get("content"))
        elif role not in ("system", "developer"):
            break
    return words[::-1]
