"""Pydantic AI: a capability for ``Agent``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import pydantic_ai
from pydantic_ai.exceptions import AgentRunError, ApprovalRequired, CallDeferred
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart

from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.run_watch import RunWatch, WatchOptions, require_parts
from ebbtide.errors import ConfigError, RunEnded
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.verdict import Verdict

try:
    from pydantic_ai.capabilities import AbstractCapability
except ImportError as error:
    raise ConfigError(
        f"needs a later pydantic-ai than {pydantic_ai.__version__}: pydantic_ai.capabilities is missing"
    ) from error

_TOOL_PARAMETERS = ("function_tools", "native_tools")


class TypedRunEnded(AgentRunError, RunEnded):  # noqa: N818 - what happened is no error of the program
    """Error that ends a run whose result is no text, so that the reason could not be its result.

    Args:
        text: Reason in words for a person.
        verdict: Verdict that ended it.
        spent: Standing of the run; None if that is not known.
        work: Messages of the run.
    """

    def __init__(
        self, text: str, verdict: Verdict, run_id: str, spent: RunStanding | None, work: Sequence[Any]
    ) -> None:
        AgentRunError.__init__(self, text)
        RunEnded.__init__(self, verdict, run_id=run_id, spent=spent, work=work)

    def __str__(self) -> str:
        return self.message


class EbbtideCapability(AbstractCapability[Any]):
    """Capability that watches the runs of an agent: ``Agent(model, capabilities=[EbbtideCapability()])``.

    A note is put before the next call of the model, for that call alone, and is not kept in the history. A
    run that is to end gets its reason as the model's last answer, so that it ends with a result and all
    messages. Where the result cannot be a text, it raises `TypedRunEnded`.

    Raises:
        ConfigError: The framework is too old, or an option is wrong.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        wish = f"needs a later pydantic-ai than {pydantic_ai.__version__}"
        require_parts(AbstractCapability, ["wrap_model_request"], wish)
        self.watch = RunWatch(**options)

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:  # noqa: D102
        self.watch.record_message(_run_of(ctx), getattr(ctx, "prompt", None))
        try:
            return await handler()
        finally:
            self.watch.end(_run_of(ctx))

    async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> ModelResponse:  # noqa: D102
        run_id = _run_of(ctx)
        advice = self.watch.advise(run_id, model=getattr(ctx.model, "model_name", None))
        if advice.refusal:
            standing = self.watch.end(run_id)
            text = final_text(advice.verdict, standing)
            if not _takes_text(request_context.model_request_parameters):
                raise TypedRunEnded(text, advice.verdict, run_id, standing, request_context.messages)
            return ModelResponse(parts=[TextPart(text)])
        return await handler(_advised(request_context, advice))

    async def after_model_request(  # noqa: D102
        self, ctx: Any, *, request_context: Any, response: ModelResponse
    ) -> ModelResponse:
        del request_context
        self.watch.record_answer(_run_of(ctx), response, model=response.model_name)
        return response

    async def on_model_request_error(self, ctx: Any, *, request_context: Any, error: Exception) -> Any:  # noqa: D102
        del request_context
        self.watch.record_failure(_run_of(ctx))
        raise error

    async def wrap_tool_execute(  # noqa: D102
        self, ctx: Any, *, call: ToolCallPart, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        del tool_def
        try:
            answer = await handler(args)
        except (CallDeferred, ApprovalRequired):
            raise  # it has not run yet
        except Exception as error:
            self._record(ctx, call, error, error=True)
            raise
        self._record(ctx, call, answer)
        return answer

    async def on_tool_validate_error(  # noqa: D102
        self, ctx: Any, *, call: ToolCallPart, tool_def: Any, args: Any, error: Exception
    ) -> Any:
        del tool_def, args
        self._record(ctx, call, error, error=True)
        raise error

    def _record(self, ctx: Any, call: ToolCallPart, answer: object, *, error: bool = False) -> None:
        self.watch.record_tool_call(_run_of(ctx), call.tool_name, call.args, answer, error=error)


def _run_of(ctx: Any) -> str:
    return str(ctx.run_id or "")


def _takes_text(parameters: Any) -> bool:
    """Returns True if the result of the run is a text, and not JSON in one."""
    return parameters.allow_text_output and getattr(parameters, "output_object", None) is None


def _advised(request_context: Any, advice: Advice) -> Any:
    changes: dict[str, Any] = {}
    if advice.note:
        note = ModelRequest(parts=[UserPromptPart(advice.note)])
        changes["messages"] = [*request_context.messages, note]
    if advice.without_tools:
        parameters = request_context.model_request_parameters
        empty: dict[str, Any] = {name: [] for name in _TOOL_PARAMETERS if hasattr(parameters, name)}
        changes["model_request_parameters"] = replace(parameters, **empty)
        settings = dict(request_context.model_settings or {})
        settings.pop("tool_choice", None)
        changes["model_settings"] = settings or None
    return replace(request_context, **changes) if changes else request_context
