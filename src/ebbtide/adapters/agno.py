"""Agno: agents and teams, through their model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, Unpack

from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.tools.function import FunctionCall

from ebbtide.adapters.run_watch import RunWatch, WatchOptions, require_parts
from ebbtide.errors import ConfigError
from ebbtide.supervision.runs.advice import Advice

_M = TypeVar("_M", bound=Model)
_HOOKS = ("invoke", "ainvoke", "invoke_stream", "ainvoke_stream", "create_function_call_result")
_BEGUN = "ebbtide_begun"  # set on the output of a run when its first call was recorded
_CACHE_APART = ("agno.models.anthropic", "agno.models.aws")  # whose input does not count cached tokens


class EbbtideAgno:
    """Watch of the runs of agents and teams: ``Agent(model=EbbtideAgno().attach(OpenAIChat(id=name)))``.

    Agno has no hook before a call of the model, so that the model itself asks. A note is put before the next
    call, for that call alone. A run that is to end gets its reason as the model's last answer, so that it
    completes as usual and all messages are kept.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        self.watch = RunWatch(**options)

    def attach(self, model: _M) -> _M:
        """Watches every run that uses a model.

        Args:
            model: The model of an agent or of a team, not its name.

        Returns:
            The same object.

        Raises:
            ConfigError: It is no model, or is watched already, or this version of Agno calls it otherwise.
        """
        if not isinstance(model, Model):
            raise ConfigError(f"{model!r:.60}: expected a model of Agno, such as OpenAIChat(id=...)")
        if hasattr(model, "ebbtide"):
            raise ConfigError(f"{model.id} is watched already")
        require_parts(Model, _HOOKS, "agno needs another version")
        kind = type(model)
        names = {name: vars(_WatchedCalls)[name] for name in _HOOKS}
        names |= {"ebbtide": self, "ebbtide_watches": kind}
        names |= {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
        # Its class, not its attributes: agents make copies of their model, which have to be watched too.
        model.__class__ = type(kind.__name__, (kind,), names)
        return model

    def prepared(self, call: dict[str, Any]) -> ModelResponse | None:
        """Changes a call as it is advised; returns the answer in its place if it is not to be made."""
        run_id = _run_of(call)
        if run_id is None:
            return None  # a call beside the runs, such as one for a summary
        watch = self.watch
        if not hasattr(call["run_response"], _BEGUN):
            setattr(call["run_response"], _BEGUN, True)
            for message in call["messages"][-1:]:
                if message.role == "user":
                    watch.record_message(run_id, message.content)
        advice = watch.advise(run_id)
        if advice.refusal:
            return ModelResponse(role="assistant", content=watch.last_words(run_id, advice))
        _apply(advice, call)
        return None

    @contextmanager
    def recording(self, model: Model, call: dict[str, Any]) -> Iterator[list[ModelResponse]]:
        """Records the answer whose parts are put into the list, or the failure."""
        parts: list[ModelResponse] = []
        run_id = _run_of(call)
        if run_id is None:
            yield parts
            return
        agent = _agent_of(call)
        with self.watch.calling(run_id, agent=agent):
            yield parts
        self.watch.record_answer(
            run_id,
            "".join(part.content for part in parts if isinstance(part.content, str)),
            model=model.id,
            usage=_usage(model, parts),
            agent=agent,
        )
        if not any(part.tool_calls for part in parts):
            self.watch.end(run_id)


class _WatchedCalls:
    """The methods of a model that is watched, for a class that is made of its own."""

    ebbtide: EbbtideAgno
    ebbtide_watches: Any  # the class that it had

    def invoke(self, *args: Any, **call: Any) -> ModelResponse:
        ending = self.ebbtide.prepared(call)
        if ending is not None:
            return ending
        with self.ebbtide.recording(self, call) as parts:
            parts.append(self.ebbtide_watches.invoke(self, *args, **call))
        return parts[0]

    async def ainvoke(self, *args: Any, **call: Any) -> ModelResponse:
        ending = self.ebbtide.prepared(call)
        if ending is not None:
            return ending
        with self.ebbtide.recording(self, call) as parts:
            parts.append(await self.ebbtide_watches.ainvoke(self, *args, **call))
        return parts[0]

    def invoke_stream(self, *args: Any, **call: Any) -> Iterator[ModelResponse]:
        ending = self.ebbtide.prepared(call)
        if ending is not None:
            yield ending
            return
        with self.ebbtide.recording(self, call) as parts:
            for part in self.ebbtide_watches.invoke_stream(self, *args, **call):
                parts.append(part)
                yield part

    async def ainvoke_stream(self, *args: Any, **call: Any) -> AsyncIterator[ModelResponse]:
        ending = self.ebbtide.prepared(call)
        if ending is not None:
            yield ending
            return
        with self.ebbtide.recording(self, call) as parts:
            async for part in self.ebbtide_watches.ainvoke_stream(self, *args, **call):
                parts.append(part)
                yield part

    def create_function_call_result(self, function_call: FunctionCall, *args: Any, **others: Any) -> Message:
        message = self.ebbtide_watches.create_function_call_result(self, function_call, *args, **others)
        context = function_call.function._run_context  # noqa: SLF001 - the call itself does not name its run
        if context is not None:
            self.ebbtide.watch.record_tool_call(
                context.run_id,
                message.tool_name or "",
                message.tool_args or {},
                message.content,
                error=bool(message.tool_call_error),
            )
        return message


def _run_of(call: dict[str, Any]) -> str | None:
    return getattr(call.get("run_response"), "run_id", None)


def _agent_of(call: dict[str, Any]) -> str | None:
    output = call["run_response"]
    return getattr(output, "agent_name", None) or getattr(output, "team_name", None)


def _apply(advice: Advice, call: dict[str, Any]) -> None:
    if advice.note:
        call["messages"] = [*call["messages"], Message(role="user", content=advice.note)]
    if advice.without_tools:
        call["tools"] = None
        call["tool_choice"] = None


def _usage(model: object, parts: list[ModelResponse]) -> dict[str, Any]:
    """Returns the usage of all parts of an answer, with cached tokens beside the input."""
    reports = [part.response_usage for part in parts if part.response_usage is not None]
    tokens, output, cached, stored = (
        sum(getattr(report, name) or 0 for report in reports)
        for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    )
    if not any(base.__module__.startswith(_CACHE_APART) for base in type(model).__mro__):
        tokens -= cached + stored
    costs = [report.cost for report in reports if report.cost is not None]
    return {
        "input_tokens": tokens,
        "output_tokens": output,
        "cache_read_tokens": cached,
        "cache_write_tokens": stored,
        "cost_usd": sum(costs) if costs else None,
    }
