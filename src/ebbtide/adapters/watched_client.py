"""Clients of model providers, under watch: for any loop that somebody wrote by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeVar, Unpack

from ebbtide.adapters.call_forms import Arguments, CallForm, ChatCompletions, Messages, Responses
from ebbtide.adapters.conversations import ChatCall, ChatRun, ConversationItem, Conversations
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
    """Returns a client of the same class, whose calls are watched; the one that is given stays as it is.

    Works with the SDKs of OpenAI and Anthropic, sync and async, streamed or not, and with clients that offer
    the same methods. A call goes on with the run whose messages it begins with, so that one client serves
    many runs. A note is put behind the last message of one call. A run that is to end gets its reason in
    place of the model's answer, with no calls of tools: the loop ends as it always does.

    Args:
        run_id: The run, if every call of the client belongs to one; None distinguishes runs by messages.

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


class WatchedMethod:
    """A method of an SDK that calls a model.

    Args:
        form: Form of its arguments and answers.
        run_id: The run of every call; None distinguishes them by their messages.
    """

    def __init__(
        self, method: Callable[..., Any], form: CallForm, run_watch: RunWatch, run_id: str | None
    ) -> None:
        self._method = method
        self._form = form
        self._watch = run_watch
        self._run_id = run_id
        self._conversations = Conversations(run_watch.new_run, run_id)
        self._is_async = inspect.iscoroutinefunction(inspect.unwrap(method))
        self.__doc__ = method.__doc__
        self.__wrapped__ = method

    def __call__(self, **arguments: Any) -> Any:
        """Calls the model, unless its run is over. An async method gives a coroutine."""
        if self._is_async:
            return self._call_async(arguments)
        call, advice = self._before(arguments)
        if advice.refusal:
            return self._refused(call, advice, arguments)
        try:
            answer = self._method(**self._advised(arguments, advice))
        except BaseException as error:
            self._failed(call, error)
            raise
        return self._answered(call, answer, arguments)

    async def _call_async(self, arguments: Arguments) -> Any:
        call, advice = self._before(arguments)
        if advice.refusal:
            return self._refused(call, advice, arguments)
        try:
            answer = await self._method(**self._advised(arguments, advice))
        except BaseException as error:
            self._failed(call, error)
            raise
        return self._answered(call, answer, arguments)

    def _before(self, arguments: Arguments) -> tuple[ChatCall, Advice]:
        """Records what is new in a call, and asks what to do about it."""
        call = ChatCall(ChatRun(self._run_id or ""))
        with self._watch.guarded():
            items = self._form.items(arguments)
            call = self._conversations.place(items, arguments.get("previous_response_id"))
            for item in call.news:
                self._record(call.run, item)
        return call, self._watch.advise(call.run.run_id)

    def _record(self, run: ChatRun, item: ConversationItem) -> None:
        for result in item.results:
            call = run.answer(result.call_id)
            if call is not None:
                self._watch.record_tool_call(
                    run.run_id,
                    call.request.name,
                    call.request.args,
                    result.content,
                    error=result.is_error,
                    batch=call.batch,
                )
        if item.words is not None:
            self._watch.record_message(run.run_id, item.words)

    def _advised(self, arguments: Arguments, advice: Advice) -> Arguments:
        with self._watch.guarded():
            if advice.note:
                arguments = self._form.with_note(arguments, advice.note)
            if advice.without_tools:
                arguments = self._form.without_tools(arguments)
        return arguments

    def _refused(self, call: ChatCall, advice: Advice, arguments: Arguments) -> Any:
        """Returns the stand-in for the model's answer; the run may go on behind it, or with the same call."""
        text = final_text(advice.verdict, self._watch.end(call.run.run_id))
        answer = self._form.last_words(arguments, text)
        with self._watch.guarded():
            self._conversations.expect_again(call)
            self._conversations.keep(call, answer)
        return LastStream(self._form.stream_of(answer)) if arguments.get("stream") else answer

    def _failed(self, call: ChatCall, error: BaseException) -> None:
        """Records that no answer came; who was cancelled, or interrupted, may come again too."""
        if isinstance(error, Exception):
            self._watch.record_failure(call.run.run_id)
        with self._watch.guarded():
            self._conversations.expect_again(call)

    def _answered(self, call: ChatCall, answer: Any, arguments: Arguments) -> Any:
        if arguments.get("stream"):
            return WatchedStream(answer, partial(self._after_stream, call), partial(self._broken_off, call))
        with self._watch.guarded():
            self._watch.record_answer(call.run.run_id, answer)
            self._conversations.keep(call, answer)
        return answer

    def _after_stream(self, call: ChatCall, parts: list[Any]) -> None:
        with self._watch.guarded():
            answer = self._form.whole(parts)
            event = ModelCall.of(answer)
            event.usage = _usage(parts)
            self._watch.record(call.run.run_id, event)
            self._conversations.keep(call, answer)

    def _broken_off(self, call: ChatCall, parts: list[Any]) -> None:
        """Records that a stream failed.

        It has its price, nobody has read its words, and it may be asked for again.
        """
        with self._watch.guarded():
            self._watch.record(call.run.run_id, ModelCall(error=True, usage=_usage(parts)))
            self._conversations.expect_again(call)


def _resource(client: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        client = getattr(client, name, None)
    return client


def _watch_helper(messages: Any) -> None:
    """Lets ``messages.stream`` of Anthropic's SDK call the watched ``messages.create``."""
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


def _usage(parts: list[Any]) -> Usage | None:
    """Returns what the parts of a stream state, each of them a piece of it."""
    usage: Usage | None = None
    for part in parts:
        stated = Usage.of(part)
        if stated is not None:
            usage = stated if usage is None else usage.updated(stated)
    return usage
