"""LangChain and LangGraph: a middleware for ``create_agent``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NotRequired, Unpack

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr, ToolCallRequest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command, interrupt

from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.supervision.runs.advice import Advice


class WatchedState(AgentState[Any]):
    """State of an agent, with the id of its run; a conversation that is kept goes on with it."""

    ebbtide_run: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


class EbbtideMiddleware(AgentMiddleware[WatchedState, Any, Any]):
    """Middleware that watches agents: ``create_agent(model, tools, middleware=[EbbtideMiddleware()])``.

    A note is put before the next call of the model, for that call alone. A run that is to end gets its reason
    as the model's last answer, so that the agent ends as usual and all messages are kept.

    Args:
        asks: True if a person is asked where one should look, and before a loop ends the run, by an
            interrupt of LangGraph: the agent needs a checkpointer, and goes on when it is resumed. Without,
            the run ends.
    """

    state_schema = WatchedState

    def __init__(self, *, asks: bool = False, **options: Unpack[WatchOptions]) -> None:
        super().__init__()
        self.asks = asks
        self.watch = RunWatch(**options)

    def before_agent(self, state: WatchedState, runtime: object) -> dict[str, Any]:  # noqa: D102
        del runtime
        run_id = state.get("ebbtide_run") or self.watch.new_run()
        for message in _latest_words(state["messages"]):
            self.watch.record_message(run_id, message)
        return {"ebbtide_run": run_id}

    async def abefore_agent(self, state: WatchedState, runtime: object) -> dict[str, Any]:  # noqa: D102
        return self.before_agent(state, runtime)

    def wrap_model_call(  # noqa: D102
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        run_id = _run_of(request)
        advice = self._advice(run_id)
        if advice.refusal:
            return ModelResponse(result=[AIMessage(self.watch.last_words(run_id, advice))])
        with self.watch.calling(run_id):
            response = handler(_advised(request, advice))
        self._record(run_id, response)
        return response

    async def awrap_model_call(  # noqa: D102
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        run_id = _run_of(request)
        advice = self._advice(run_id)
        if advice.refusal:
            return ModelResponse(result=[AIMessage(self.watch.last_words(run_id, advice))])
        with self.watch.calling(run_id):
            response = await handler(_advised(request, advice))
        self._record(run_id, response)
        return response

    def wrap_tool_call(  # noqa: D102
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        with self._recording(request) as answers:
            answers.append(handler(request))
        return answers[0]

    async def awrap_tool_call(  # noqa: D102
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        with self._recording(request) as answers:
            answers.append(await handler(request))
        return answers[0]

    @contextmanager
    def _recording(self, request: ToolCallRequest) -> Iterator[list[ToolMessage | Command[Any]]]:
        """Records the answer of a tool that is put into the list, or its failure."""
        answers: list[ToolMessage | Command[Any]] = []
        try:
            yield answers
        except GraphBubbleUp:
            raise  # an interrupt is no failure
        except Exception as error:
            self._record_tool(request, error, error=True)
            raise
        self._record_tool(request, answers[0])

    def _advice(self, run_id: str) -> Advice:
        """Returns what to do before a call; if a person is asked first, once they have answered."""
        advice = self.watch.advise(run_id, asks=self.asks)
        if advice.ask and self.asks:
            interrupt(final_text(advice.verdict))  # comes back when the run is resumed
            self.watch.acknowledge(run_id)
            advice = self.watch.advise(run_id)
        return advice

    def _record(self, run_id: str, response: ModelResponse[Any]) -> None:
        for message in response.result:
            if isinstance(message, AIMessage):
                self.watch.record_answer(run_id, message)

    def _record_tool(self, request: ToolCallRequest, answer: object, *, error: bool = False) -> None:
        call = request.tool_call
        if isinstance(answer, Command):
            answer = None if answer.update is None else answer.update
        self.watch.record_tool_call(
            _run_of(request),
            call["name"],
            call["args"],
            answer,
            error=error or getattr(answer, "status", "") == "error",
        )


def _run_of(request: ModelRequest[Any] | ToolCallRequest) -> str:
    return str(request.state.get("ebbtide_run") or "")


def _advised(request: ModelRequest[Any], advice: Advice) -> ModelRequest[Any]:
    changes: dict[str, Any] = {}
    if advice.note:
        changes["messages"] = [*request.messages, HumanMessage(advice.note)]
    if advice.without_tools:
        changes["tools"] = []
        changes["tool_choice"] = None
    return request.override(**changes) if changes else request


def _latest_words(messages: list[Any]) -> list[object]:
    """Returns what people have said since the model last spoke."""
    words: list[object] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, HumanMessage):
            words.append(message.content)
    return words[::-1]
