"""Callables that go through an execution context: plain, asynchronous, and those that give a stream."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextvars import Token
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any

from ebbtide.guard.dispatcher import Dispatcher, RunningCall, enclosing
from ebbtide.guard.operation import Operation

_COMPLETE = frozenset({type(None), bool, bytes, dict, float, int, list, str, tuple})


def wrapped(dispatcher: Dispatcher, function: Callable[..., Any], operation: Operation) -> Callable[..., Any]:
    """Returns `function`, whose calls go through `dispatcher`.

    Generators and coroutine functions stay such.
    """
    if inspect.isasyncgenfunction(function):

        async def call_asynchronous_stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            items = function(*args, **kwargs)
            if dispatcher.may_wait(operation):
                await dispatcher.room(operation)
            stream = AsyncStream(dispatcher.begin(operation, args, kwargs), items)
            try:
                async for item in stream:
                    yield item
            finally:
                await stream.aclose()

        call: Callable[..., Any] = call_asynchronous_stream
    elif inspect.iscoroutinefunction(function):

        async def call_asynchronous(*args: Any, **kwargs: Any) -> Any:
            if dispatcher.may_wait(operation):
                await dispatcher.room(operation)
            running = dispatcher.begin(operation, args, kwargs)
            return await _awaited(running, lambda: function(*args, **kwargs))

        call = call_asynchronous
    elif inspect.isgeneratorfunction(function):

        def call_stream(*args: Any, **kwargs: Any) -> Generator[Any, None, Any]:
            items = function(*args, **kwargs)
            return (yield from Stream(dispatcher.begin(operation, args, kwargs), items))

        call = call_stream
    else:

        def call_plain(*args: Any, **kwargs: Any) -> Any:
            running = dispatcher.begin(operation, args, kwargs)
            token = enclosing.set(running)
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                dispatcher.fail(running, error)
                raise
            finally:
                enclosing.reset(token)
            return (
                dispatcher.finish(running, result)
                if type(result) in _COMPLETE
                else _wrapped_result(running, result)
            )

        call = call_plain
    return functools.wraps(function)(call)


class Stream:
    """Items of a running call. It ends with the last one, when it is closed, or when it is let go."""

    def __init__(self, running: RunningCall, items: Any) -> None:
        self._running = running
        self._items = iter(items)

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Any:
        running = self._running
        token = enclosing.set(running)
        try:
            running.dispatcher.check()
            item = next(self._items)
        except StopIteration:
            running.dispatcher.finish_stream(running)
            raise
        except BaseException as error:
            running.dispatcher.fail(running, error)
            self.close()
            raise
        finally:
            enclosing.reset(token)
        running.dispatcher.received(running, item)
        return item

    def close(self) -> None:
        """Ends the call before the last item."""
        self._running.dispatcher.abandon(self._running)
        if hasattr(self._items, "close"):
            self._items.close()

    def __del__(self) -> None:
        self._running.dispatcher.abandon(self._running)


class AsyncStream:
    """Items of a running call that are awaited, with the same three ends."""

    def __init__(self, running: RunningCall, items: Any) -> None:
        self._running = running
        self._items = aiter(items)

    def __aiter__(self) -> AsyncStream:
        return self

    async def __anext__(self) -> Any:
        running = self._running
        token = enclosing.set(running)
        try:
            running.dispatcher.check()
            item = await anext(self._items)
        except StopAsyncIteration:
            running.dispatcher.finish_stream(running)
            raise
        except BaseException as error:
            running.dispatcher.fail(running, error)
            await self.aclose()
            raise
        finally:
            _leave(token)
        running.dispatcher.received(running, item)
        return item

    async def aclose(self) -> None:
        """Ends the call before the last item."""
        self._running.dispatcher.abandon(self._running)
        if hasattr(self._items, "aclose"):
            await self._items.aclose()

    def __del__(self) -> None:
        self._running.dispatcher.abandon(self._running)


def _wrapped_result(running: RunningCall, result: Any) -> Any:
    """Returns what a call has returned, which may only now begin to answer."""
    if isinstance(result, CoroutineType):
        return _awaited(running, lambda: result)
    reads = running.operation.stream
    if isinstance(result, AsyncGeneratorType) or (reads and hasattr(result, "__aiter__")):
        return AsyncStream(running, result)
    if isinstance(result, GeneratorType) or (reads and hasattr(result, "__iter__")):
        return Stream(running, result)
    return running.dispatcher.finish(running, result)


async def _awaited(running: RunningCall, answer: Callable[[], Awaitable[Any]]) -> Any:
    token = enclosing.set(running)
    try:
        result = await answer()
    except BaseException as error:
        running.dispatcher.fail(running, error)
        raise
    finally:
        _leave(token)
    return _wrapped_result(running, result)


def _leave(token: Token[RunningCall | None]) -> None:
    # What was not awaited to its end is closed by the event loop, in a context of its own.
    with contextlib.suppress(ValueError):
        enclosing.reset(token)
