"""`Deliberation` for asyncio: the store is waited for in threads, never in the loop."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from ebbtide.decision_log.deliberation.answer import DecisionAnswer
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.errors import ConfigError, shown

_P = ParamSpec("_P")
_T = TypeVar("_T")
_LAST: ContextVar[DecisionAnswer | None] = ContextVar("ebbtide_last_answer", default=None)


def _awaitable(
    method: Callable[Concatenate[Deliberation, _P], _T],
) -> Callable[Concatenate[AsyncDeliberation, _P], Coroutine[Any, Any, _T]]:
    """The same method, run in a thread; the answer that it leaves behind becomes that of the task."""

    async def call(self: AsyncDeliberation, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        def work() -> tuple[_T, DecisionAnswer | None]:
            deliberation = self.deliberation
            before = deliberation.last
            # By its name, so that what a subclass does instead is done here too.
            value: _T = getattr(deliberation, method.__name__)(*args, **kwargs)
            answer = deliberation.last
            return value, None if answer is before else answer

        value, answer = await self.run(work)
        if answer is not None:
            _LAST.set(answer)
        return value

    functools.update_wrapper(call, method)
    return call


class AsyncDeliberation:
    """The same verbs as `Deliberation`, awaitable.

    Calls that wait at the same moment share a commit. A call whose task is cancelled may be recorded all the
    same.

    Args:
        deliberation: What does the work; its log may be used on beside this.
        threads: How many calls wait at once; the others queue.

    Raises:
        ConfigError: `threads` is below 1.
    """

    def __init__(self, deliberation: Deliberation, *, threads: int = 8) -> None:
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ConfigError(f"threads = {shown(threads)}: expected a number from 1")
        self.deliberation = deliberation
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="ebbtide-decisions")

    @property
    def last(self) -> DecisionAnswer | None:
        """The latest answer that this task got; None before the first one."""
        return _LAST.get()

    assess = _awaitable(Deliberation.assess)
    start = _awaitable(Deliberation.start)
    try_start = _awaitable(Deliberation.try_start)
    think = _awaitable(Deliberation.think)
    finalize = _awaitable(Deliberation.finalize)
    try_finalize = _awaitable(Deliberation.try_finalize)
    record_decision = _awaitable(Deliberation.record_decision)
    record_batch = _awaitable(Deliberation.record_batch)

    async def run(self, work: Callable[[], _T]) -> _T:
        """Anything else that would wait for the store, such as ``lambda: log.search("retries")``."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def aclose(self) -> None:
        """Wait for what is under way, and end the threads; the log stays open."""
        await asyncio.to_thread(self._threads.shutdown)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
