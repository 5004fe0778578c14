"""AutoGen: a model client that asks first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any, Unpack

from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    FunctionExecutionResultMessage,
    RequestUsage,
    UserMessage,
)

from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.events.usage import Usage
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.verdict import Verdict

_PERSON = "user"  # the source of what people say; other sources are agents


class ConversationEndedError(RuntimeError):
    """Error that ends a conversation if no text can say so.

    A type is wanted, or the team went on all the same.

    Args:
        text: Reason in words for a person.
        verdict: Verdict that ended it.
    """

    def __init__(self, text: str, verdict: Verdict) -> None:
        super().__init__(text)
        self.verdict = verdict


class EbbtideClients:
    """Watch of agents: ``AssistantAgent("clerk", model_client=EbbtideClients().client(model_client))``.

    A note is put before the next call of the model, for that call alone. A conversation that is to end gets
    its reason as the model's last answer, so that the agent ends its turn as usual.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        self.watch = RunWatch(**options)
        self.refusals: dict[str, int] = {}

    def client(
        self, client: Any, *, run_id: str | None = None, agent: str | None = None, model: str | None = None
    ) -> Any:
        """Returns a client that does what another one does, under watch. Make one for each agent.

        Args:
            client: A ``ChatCompletionClient``.
            run_id: The run; agents of a team give the same one. None makes one.
            agent: The agent whose client it is, if there are several.
            model: The model, if the client does not state it.
        """
        return _WatchedClient(self, client, run_id or self.watch.new_run(), agent, model or _model_of(client))


class _WatchedClient:
    """Model client that is watched. It has what the client has that it watches."""

    def __init__(
        self, clients: EbbtideClients, client: Any, run_id: str, agent: str | None, model: str | None
    ) -> None:
        self._client = client
        self._clients = clients
        self._watch = clients.watch
        self._run_id = run_id
        self._agent = agent
        self._model = model
        self._requests: dict[str, Any] = {}  # calls of tools that were asked for, by their id
        self._latest_words: object = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def create(self, messages: Sequence[Any], **options: Any) -> CreateResult:
        self._record_input(messages)
        advice = self._watch.advise(self._run_id, agent=self._agent)
        if advice.refusal:
            return self._last_answer(advice, options)
        with self._watch.calling(self._run_id, agent=self._agent):
            answer = await self._client.create(_with_note(messages, advice), **_offered(options, advice))
        self._record_answer(answer)
        return answer

    async def create_stream(self, messages: Sequence[Any], **options: Any) -> AsyncIterator[Any]:
        self._record_input(messages)
        advice = self._watch.advise(self._run_id, agent=self._agent)
        if advice.refusal:
            yield self._last_answer(advice, options)
            return
        with self._watch.calling(self._run_id, agent=self._agent):
            stream = self._client.create_stream(_with_note(messages, advice), **_offered(options, advice))
            async for item in stream:
                if isinstance(item, CreateResult):
                    self._record_answer(item)
                yield item

    def _record_input(self, messages: Sequence[Any]) -> None:
        """Records what came since the last answer: answers of tools, and words of people."""
        with self._watch.guarded():
            self._record_latest(messages)

    def _record_latest(self, messages: Sequence[Any]) -> None:
        latest: list[Any] = []
        for message in reversed(messages):
            if isinstance(message, AssistantMessage):
                break
            latest.insert(0, message)
        for message in latest:
            if isinstance(message, FunctionExecutionResultMessage):
                self._record_tools(message)
            elif getattr(message, "source", None) == _PERSON and message is not self._latest_words:
                self._latest_words = message
                self._clients.refusals.pop(self._run_id, None)
                self._watch.record_message(self._run_id, message.content)

    def _record_tools(self, message: FunctionExecutionResultMessage) -> None:
        for answer in message.content:
            request = self._requests.pop(answer.call_id, None)
            if request is not None:
                self._watch.record_tool_call(
                    self._run_id,
                    request.name,
                    request.arguments,
                    answer.content,
                    error=bool(answer.is_error),
                    agent=self._agent,
                )

    def _record_answer(self, answer: CreateResult) -> None:
        with self._watch.guarded():
            if not isinstance(answer.content, str):
                self._requests.update((call.id, call) for call in answer.content)
            # An answer out of a cache took nothing.
            usage = Usage(cost_usd=0.0) if answer.cached else answer.usage
            self._watch.record_answer(self._run_id, answer, agent=self._agent, model=self._model, usage=usage)

    def _last_answer(self, advice: Advice, options: dict[str, Any]) -> CreateResult:
        text = self._watch.last_words(self._run_id, advice)
        refusals = self._clients.refusals
        refusals[self._run_id] = refusals.get(self._run_id, 0) + 1
        if isinstance(options.get("json_output"), type) or refusals[self._run_id] > 1:
            raise ConversationEndedError(text, advice.verdict)
        return CreateResult(finish_reason="stop", content=text, usage=RequestUsage(0, 0), cached=False)


def _with_note(messages: Sequence[Any], advice: Advice) -> Sequence[Any]:
    return [*messages, UserMessage(content=advice.note, source="ebbtide")] if advice.note else messages


def _offered(options: dict[str, Any], advice: Advice) -> dict[str, Any]:
    if not advice.without_tools:
        return options
    return {name: value for name, value in options.items() if name not in ("tools", "tool_choice")}


def _model_of(client: Any) -> str | None:
    with suppress(Exception):
        model = client.dump_component().config.get("model")
        return model if isinstance(model, str) else None
    return None
