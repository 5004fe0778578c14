"""Clients of model providers, under watch: for any loop that somebody wrote by hand."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeVar, Unpack

from ebbtide.adapters.call_forms import Arguments, CallForm, ChatCompletions, Messages, Responses
from ebbtide.adapters.conversations import ChatCall, ChatRun, ConversationItem, Conversations
from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.adapters.watched_stream import LastStream, WatchedStream
from ebbtide.bounded import Bounded
from ebbtide.errors import ConfigError
from ebbtide.events.event import ModelCall
from ebbtide.events.object_fields import fields_of
from ebbtide.events.usage import Usage
from ebbtide.supervision.runs.advice import Advice

_Client = TypeVar("_Client")

_MOST_NAMED: Final = 10_000  # runs
#: Where the SDKs have their calls, and how each is read.
_METHODS: Final = (
    (("chat", "completions"), ("create", "parse"), ChatCompletions()),
    (("responses",), ("create", "parse"), Responses()),
    (("messages",), ("create", "parse"), Messages()),
    (("beta", "messages"), ("create", "parse"), Messages("anthropic.types.beta", "Beta")),
)
_NOT_GIVEN: Final = frozenset({"NotGiven", "Omit"})  # the SDKs' classes of what a caller left out
_NOT_UNDERSTOOD: Final = frozenset({400, 404, 422})  # what servers say to an option that they do not have


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
    embeddings = _resource(twin, ("embeddings",))
    if run_id is not None and callable(getattr(embeddings, "create", None)):
        embeddings.create = _counted(embeddings.create, partial(run_watch.record_answer, run_id))
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
            _watch_helper(resource, "Beta" if "beta" in path else "")
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
        run_of: Names the run of a call by its arguments, or leaves it to the messages with None.
    """

    def __init__(
        self,
        method: Callable[..., Any],
        form: CallForm,
        run_watch: RunWatch,
        run_id: str | None = None,
        run_of: Callable[[Arguments], str | None] | None = None,
    ) -> None:
        self._method = method
        self._form = form
        self._watch = run_watch
        self._run_of = run_of or (lambda _: run_id)
        self._unnamed = Conversations(run_watch.new_run)
        self._named: Bounded[str, Conversations] = Bounded(_MOST_NAMED)
        self._lock = threading.Lock()
        self._may_ask_usage = True
        self._is_async = inspect.iscoroutinefunction(inspect.unwrap(method))
        self.__doc__ = method.__doc__
        self.__wrapped__ = method

    def twin(self, method: Callable[..., Any]) -> WatchedMethod:
        """Returns another method, sync or async, whose calls belong to the same runs."""
        twin = WatchedMethod(method, self._form, self._watch, run_of=self._run_of)
        twin._unnamed, twin._named, twin._lock = self._unnamed, self._named, self._lock
        return twin

    def __call__(self, *places: Any, **arguments: Any) -> Any:
        """Calls the model, unless its run is over. An async method gives a coroutine."""
        if places:
            arguments |= zip(inspect.signature(self._method).parameters, places, strict=False)
        arguments = {key: value for key, value in arguments.items() if type(value).__name__ not in _NOT_GIVEN}
        if self._is_async:
            return self._call_async(arguments)
        call, advice = self._before(arguments)
        if advice.refusal:
            return self._refused(call, advice, arguments)
        advised = self._advised(arguments, advice)
        asking = self._asking_usage(advised)
        try:
            try:
                answer = self._method(**asking)
            except Exception as error:
                if not self._is_misunderstood(error, asking, advised):
                    raise
                asking = advised
                answer = self._method(**advised)
        except BaseException as error:
            self._failed(call, error)
            raise
        return self._answered(call, answer, arguments, hides_usage=asking is not advised)

    async def _call_async(self, arguments: Arguments) -> Any:
        call, advice = self._before(arguments)
        if advice.refusal:
            return self._refused(call, advice, arguments)
        advised = self._advised(arguments, advice)
        asking = self._asking_usage(advised)
        try:
            try:
                answer = await self._method(**asking)
            except Exception as error:
                if not self._is_misunderstood(error, asking, advised):
                    raise
                asking = advised
                answer = await self._method(**advised)
        except BaseException as error:
            self._failed(call, error)
            raise
        return self._answered(call, answer, arguments, hides_usage=asking is not advised)

    def _asking_usage(self, arguments: Arguments) -> Arguments:
        """Returns a streamed call that asks what it took; the same call where nobody has to ask."""
        return (self._form.asking_usage(arguments) if self._may_ask_usage else None) or arguments

    def _is_misunderstood(self, error: Exception, asking: Arguments, advised: Arguments) -> bool:
        """Reports that a server does not know how to state usage; it is not asked again."""
        if asking is advised or getattr(error, "status_code", None) not in _NOT_UNDERSTOOD:
            return False
        self._may_ask_usage = False
        return True

    def _before(self, arguments: Arguments) -> tuple[ChatCall, Advice]:
        """Records what is new in a call, and asks what to do about it."""
        run_id = self._run_of(arguments)
        conversations = self._conversations(run_id)
        call = ChatCall(ChatRun(run_id or ""), conversations)
        with self._watch.guarded():
            items = self._form.items(arguments)
            call = conversations.place(items, self._form.kept_history(arguments))
            for item in call.news:
                self._record(call.run, item)
        return call, self._watch.advise(call.run.run_id, model=arguments.get("model"))

    def _conversations(self, run_id: str | None) -> Conversations:
        if run_id is None:
            return self._unnamed
        with self._lock:
            found = self._named.get(run_id)
            if found is None:
                found = self._named[run_id] = Conversations(self._watch.new_run, run_id)
            return found

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
        answer = self._form.last_words(arguments, self._watch.last_words(call.run.run_id, advice))
        with self._watch.guarded():
            call.conversations.expect_again(call)
            call.conversations.keep(call, answer)
        return LastStream(self._form.stream_of(answer)) if arguments.get("stream") else answer

    def _failed(self, call: ChatCall, error: BaseException) -> None:
        """Records that no answer came; who was cancelled, or interrupted, may come again too."""
        if isinstance(error, Exception):
            self._watch.record_failure(call.run.run_id)
        with self._watch.guarded():
            call.conversations.expect_again(call)

    def _answered(
        self, call: ChatCall, answer: Any, arguments: Arguments, *, hides_usage: bool = False
    ) -> Any:
        if arguments.get("stream"):
            end, fail = partial(self._after_stream, call), partial(self._broken_off, call)
            return WatchedStream(answer, end, fail, hides=_is_usage_alone if hides_usage else None)
        with self._watch.guarded():
            self._watch.record_answer(call.run.run_id, answer)
            call.conversations.keep(call, answer)
        return answer

    def _after_stream(self, call: ChatCall, parts: list[Any]) -> None:
        with self._watch.guarded():
            answer = self._form.whole(parts)
            event = ModelCall.of(answer)
            event.usage = _usage(parts) or event.usage
            self._watch.record(call.run.run_id, event)
            call.conversations.keep(call, answer)

    def _broken_off(self, call: ChatCall, parts: list[Any]) -> None:
        """Records that a stream failed.

        It has its price, nobody has read its words, and it may be asked for again.
        """
        with self._watch.guarded():
            self._watch.record(call.run.run_id, ModelCall(error=True, usage=_usage(parts)))
            call.conversations.expect_again(call)


def _counted(method: Callable[..., Any], record: Callable[[Any], None]) -> Callable[..., Any]:
    """Returns a method whose answers are recorded for what they cost."""
    if inspect.iscoroutinefunction(inspect.unwrap(method)):

        async def count_later(*places: Any, **arguments: Any) -> Any:
            answer = await method(*places, **arguments)
            record(answer)
            return answer

        return count_later

    def count(*places: Any, **arguments: Any) -> Any:
        answer = method(*places, **arguments)
        record(answer)
        return answer

    return count


def _is_usage_alone(part: Any) -> bool:
    """Reports that a part of a stream is there only since its usage was asked for."""
    fields = fields_of(part)
    return not fields.get("choices") and fields.get("usage") is not None


def _resource(client: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        client = getattr(client, name, None)
    return client


def _watch_helper(messages: Any, mark: str) -> None:
    """Lets ``messages.stream`` of Anthropic's SDK call the watched ``messages.create``."""
    helper = getattr(messages, "stream", None)
    if not callable(helper) or not type(messages).__module__.startswith("anthropic."):
        return
    streaming = import_module("anthropic.lib.streaming")
    is_async = inspect.iscoroutinefunction(inspect.unwrap(messages.create))
    manager = getattr(streaming, f"{mark}{'Async' if is_async else ''}MessageStreamManager")

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
