"""Clients of model providers, under watch: for any loop that somebody wrote by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeVar, Unpack

from ebbtide.adapters.call_forms import Arguments, CallForm, ChatCompletions, Messages, Responses
from ebbtide.adapters.conversations import ChatRun, Conversations
from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.adapters.watched_stream import LastStream, WatchedStream
from ebbtide.errors import ConfigError
from ebbtide.events.event import ModelCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.runs.advice import Advice

_Client = TypeVar("_Client")

#: Where the SDKs have their calls, and how each is read.
_METHODS: Final = (
    (("chat", "completions"), ("create", "parse"), ChatCompletions()),
    (("responses",), ("create", "parse"), Responses()),
    (("messages",), ("create", "parse"), Messages()),
)


def watch(client: _Client, *, run_id: str | None = None, **options: Unpack[WatchOptions]) -> _Client:
    """A client of the same class, whose calls are watched; the one that is given stays as it is.

    Works with the SDKs of OpenAI and Anthropic, sync and async, streamed or not, and with clients that offer
    the same methods. A call goes on with the run whose messages it begins with, so that one client serves
    many runs. A note is put behind the last message of one call. A run that is to end gets its reason in
    place of the model's answer, with no calls of tools: the loop ends as it always does.

    Args:
        client: The client.
        run_id: The run, where every call of the client belongs to one; None tells runs apart by messages.
        options: As in `WatchOptions`.

    Raises:
        ConfigError: The client has none of the methods that are watched.
    """
    run_watch = RunWatch(**options)
    copy = getattr(client, "copy", None)
    twin: Any = copy() if callable(copy) else client
    is_watched = False
    for path, names, form in _METHODS:
        resource = _resource(twin, path)
        if resource is None:
            continue
        for name in names:
            method = getattr(resource, name, None)
            if callable(method):
                setattr(resource, name, WatchedMethod(method, form, run_watch, run_id))
                is_watched = True
        if isinstance(form, Messages):
            _watch_helper(resource)
    if not is_watched:
        raise ConfigError(
            f"{type(client).__name__} has neither chat.completions.create, responses.create nor "
            "messages.create: give the client of an SDK, or record the calls with Runs"
        )
    twin.ebbtide = run_watch
    return twin


def _resource(client: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        client = getattr(client, name, None)
    return client


def _watch_helper(messages: Any) -> None:
    """Let ``messages.stream`` of Anthropic's SDK call the watched ``messages.create``."""
    helper = getattr(messages, "stream", None)
    if not callable(helper) or not type(messages).__module__.startswith("anthropic."):
        return
    streaming = import_module("anthropic.lib.streaming")
    is_async = inspect.iscoroutinefunction(inspect.unwrap(messages.create))
    manager = streaming.AsyncMessageStreamManager if is_async else streaming.MessageStreamManager

    def stream(**arguments: Any) -> Any:
        if "output_format" in arguments:
            return helper(**arguments)  # makes a schema of its own, which is not ours to make
        nothing = import_module("anthropic").NOT_GIVEN
        if is_async:
            return manager(messages.create(stream=True, **arguments), output_format=nothing)
        return manager(lambda: messages.create(stream=True, **arguments), output_format=nothing)

    messages.stream = stream


class WatchedMethod:
    """A method of an SDK that calls a model.

    Args:
        method: The method.
        form: How its arguments and answers are read.
        run_watch: Watches.
        run_id: The run of every call; None tells them apart.
    """

    def __init__(
        self, method: Callable[..., Any], form: CallForm, run_watch: RunWatch, run_id: str | None
    ) -> None:
        self._method = method
        self._form = form
        self._watch = run_watch
        self._run_id = run_id
        self._conversations = Conversations(run_watch.new_run)
        self._is_async = inspect.iscoroutinefunction(inspect.unwrap(method))
        self.__doc__ = method.__doc__
        self.__wrapped__ = method

    def __call__(self, **arguments: Any) -> Any:
        """Call the model, unless its run is over. An async method gives a coroutine."""
        if self._is_async:
            return self._call_async(arguments)
        conversation, advice = self._before(arguments)
        if advice.refusal:
            answer = self._last_words(conversation, advice, arguments)
            return LastStream(self._form.stream_of(answer)) if arguments.get("stream") else answer
        try:
            answer = self._method(**self._advised(arguments, advice))
        except Exception:
            self._watch.record_failure(conversation.run_id)
            self._conversations.fail(conversation)
            raise
        if arguments.get("stream"):
            return WatchedStream(answer, lambda parts: self._after_stream(conversation, parts))
        self._after(conversation, answer)
        return answer

    async def _call_async(self, arguments: Arguments) -> Any:
        conversation, advice = self._before(arguments)
        if advice.refusal:
            answer = self._last_words(conversation, advice, arguments)
            return LastStream(self._form.stream_of(answer)) if arguments.get("stream") else answer
        try:
            answer = await self._method(**self._advised(arguments, advice))
        except Exception:
            self._watch.record_failure(conversation.run_id)
            self._conversations.fail(conversation)
            raise
        if arguments.get("stream"):
            return WatchedStream(answer, lambda parts: self._after_stream(conversation, parts))
        self._after(conversation, answer)
        return answer

    def _before(self, arguments: Arguments) -> tuple[ChatRun, Advice]:
        """Record what is new in a call, and ask what to do about it."""
        conversation = ChatRun(self._run_id or "")
        with self._watch.guarded():
            items = self._form.items(arguments)
            conversation, news = self._conversations.place(items, arguments.get("previous_response_id"))
            if self._run_id is not None:
                conversation.run_id = self._run_id
            for item in news:
                if item.is_answer:
                    conversation.take(item.value)
                for result in item.results:
                    request = conversation.calls.pop(result.call_id, None)
                    if request is not None:
                        self._watch.record_tool_call(
                            conversation.run_id,
                            request.name,
                            request.args,
                            result.content,
                            error=result.is_error,
                        )
                if item.words is not None:
                    self._watch.record_message(conversation.run_id, item.words)
        return conversation, self._watch.advise(conversation.run_id)

    def _advised(self, arguments: Arguments, advice: Advice) -> Arguments:
        with self._watch.guarded():
            if advice.note:
                arguments = self._form.with_note(arguments, advice.note)
            if advice.without_tools:
                arguments = self._form.without_tools(arguments)
        return arguments

    def _last_words(self, conversation: ChatRun, advice: Advice, arguments: Arguments) -> Any:
        text = final_text(advice.verdict, self._watch.end(conversation.run_id))
        return self._form.last_words(arguments, text)

    def _after(self, conversation: ChatRun, answer: Any) -> None:
        with self._watch.guarded():
            self._watch.record_answer(conversation.run_id, answer)
            self._conversations.keep(conversation, answer)

    def _after_stream(self, conversation: ChatRun, parts: list[Any]) -> None:
        with self._watch.guarded():
            usage: Usage | None = None
            for part in parts:
                stated = Usage.of(part)
                if stated is not None:
                    usage = stated if usage is None else usage.updated(stated)
            answer = self._form.whole(parts)
            call = ModelCall.of(answer)
            call.usage = usage
            self._watch.record(conversation.run_id, call)
            self._conversations.keep(conversation, answer)
