"""`Deliberation` for asyncio: the store is waited for in threads, never in the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Self, TypeVar, Unpack

from ebbtide.decision_log.answer import Answer, Verdict
from ebbtide.decision_log.deliberation import Deliberation
from ebbtide.decision_log.final_words import FinalWords
from ebbtide.decisions.candidate import Source
from ebbtide.errors import ConfigError

_T = TypeVar("_T")
_LAST: ContextVar[Answer | None] = ContextVar("ebbtide_last_answer", default=None)


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
            raise ConfigError(f"threads = {threads!r}: expected a number from 1")
        self.deliberation = deliberation
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="ebbtide-decisions")

    @property
    def last(self) -> Answer | None:
        """The latest answer that this task got; None before the first one."""
        return _LAST.get()

    async def start(
        self,
        agent_id: str,
        description: str,
        frame: str = "decision",
        session: str | None = None,
        *,
        ts: float | None = None,
    ) -> str | None:
        """See `Deliberation.start`."""
        answer = await self.try_start(agent_id, description, frame, session, ts=ts)
        return answer.id if answer.verdict is Verdict.OPENED else None

    async def try_start(
        self,
        agent_id: str,
        description: str,
        frame: str = "decision",
        session: str | None = None,
        *,
        source: Source = Source.AUTO,
        ts: float | None = None,
    ) -> Answer:
        """See `Deliberation.try_start`."""
        work = self.deliberation.try_start
        return await self._answer(lambda: work(agent_id, description, frame, session, source=source, ts=ts))

    async def think(self, decision_id: str | None, text: str, *, ts: float | None = None) -> None:
        """See `Deliberation.think`."""
        await self.run(lambda: self.deliberation.think(decision_id, text, ts=ts))

    async def finalize(
        self, decision_id: str | None, description: str | None = None, **said: Unpack[FinalWords]
    ) -> str | None:
        """See `Deliberation.finalize`."""
        if decision_id is None:
            return None
        answer = await self.try_finalize(decision_id, description, **said)
        return answer.id if answer.kept else None

    async def try_finalize(
        self, decision_id: str, description: str | None = None, **said: Unpack[FinalWords]
    ) -> Answer:
        """See `Deliberation.try_finalize`."""
        work = self.deliberation.try_finalize
        return await self._answer(lambda: work(decision_id, description, **said))

    async def record_decision(
        self,
        description: str,
        *,
        agent_id: str | None = None,
        session: str | None = None,
        frame: str = "decision",
        source: Source = Source.EXPLICIT,
        **said: Unpack[FinalWords],
    ) -> Answer:
        """See `Deliberation.record_decision`."""
        work = self.deliberation.record_decision
        return await self._answer(
            lambda: work(description, agent_id=agent_id, session=session, frame=frame, source=source, **said)
        )

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

    async def _answer(self, work: Callable[[], Answer]) -> Answer:
        answer = await self.run(work)
        _LAST.set(answer)
        return answer
