"""Google ADK: a plugin for ``Runner`` or ``App``."""

from __future__ import annotations

from typing import Any, Unpack

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models import LlmRequest, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.genai import types

from ebbtide.adapters.run_watch import RunWatch, WatchOptions, require_parts

_NEEDED = ("branch", "get_invocation_context")


class EbbtideAdkPlugin(BasePlugin):
    """Plugin that watches invocations: ``App(name=name, root_agent=agent, plugins=[EbbtideAdkPlugin()])``.

    An invocation is a run. Agents that take turns are one conversation; those on branches of their own, as
    under ``ParallelAgent``, are judged apart. An invocation that is to end gets its reason as the last answer
    of the model, so that all events are kept.

    Raises:
        ConfigError: This version of ADK does not state on which branch an agent works.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        require_parts(CallbackContext, _NEEDED, "google_adk needs a later google-adk")
        super().__init__(name="ebbtide")
        self.watch = RunWatch(**options)

    async def on_user_message_callback(  # noqa: D102
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> None:
        words = [part.text for part in user_message.parts or () if part.text]
        self.watch.record_message(invocation_context.invocation_id, words)

    async def before_model_callback(  # noqa: D102
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        run_id = callback_context.invocation_id
        advice = self.watch.advise(run_id, agent=callback_context.branch, model=llm_request.model)
        if advice.refusal:
            return LlmResponse(content=_words("model", self.watch.last_words(run_id, advice)))
        if advice.note:
            llm_request.contents.append(_words("user", advice.note))
        if advice.without_tools:
            llm_request.config.tools = None
            llm_request.config.tool_config = None
        return None

    async def after_model_callback(  # noqa: D102
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> None:
        if llm_response.partial:
            return  # the whole answer comes at the end of the stream
        run_id, agent = callback_context.invocation_id, _agent_of(callback_context)
        if llm_response.error_code and llm_response.content is None:
            self.watch.record_failure(run_id, agent=agent)
        else:
            model = llm_response.model_version or _model_of(callback_context)
            self.watch.record_answer(run_id, llm_response, agent=agent, model=model)

    async def on_model_error_callback(  # noqa: D102
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> None:
        del llm_request, error
        self.watch.record_failure(callback_context.invocation_id, agent=_agent_of(callback_context))

    async def after_tool_callback(  # noqa: D102
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: CallbackContext, result: object
    ) -> None:
        # A function tool that was called wrongly answers with an error and nothing else.
        is_error = isinstance(result, dict) and set(result) == {"error"}
        self._record_tool(tool, tool_args, tool_context, result, error=is_error)

    async def on_tool_error_callback(  # noqa: D102
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: CallbackContext,
        error: BaseException,
    ) -> None:
        if isinstance(error, Exception):  # a call that was cancelled is none that failed
            self._record_tool(tool, tool_args, tool_context, error, error=True)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:  # noqa: D102
        self.watch.end(invocation_context.invocation_id)

    async def on_run_error_callback(  # noqa: D102
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        del error
        self.watch.end(invocation_context.invocation_id)

    def _record_tool(
        self,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: CallbackContext,
        result: object,
        *,
        error: bool,
    ) -> None:
        self.watch.record_tool_call(
            tool_context.invocation_id,
            tool.name,
            tool_args,
            result,
            error=error,
            agent=_agent_of(tool_context),
        )


def _agent_of(context: CallbackContext) -> str:
    """Returns the branch, whose agents work at the same time as others; else the agent whose turn it is."""
    return context.branch or context.agent_name


def _model_of(context: CallbackContext) -> str | None:
    """Returns the model of the agent, if its answers do not name it."""
    agent = context.get_invocation_context().agent
    return getattr(getattr(agent, "canonical_model", None), "model", None)


def _words(role: str, text: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])
