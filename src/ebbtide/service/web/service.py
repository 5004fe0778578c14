"""The running service, as every part of the API reaches it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Final, TypeVar
from weakref import WeakValueDictionary

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator

from ebbtide.service.alerts.alert_sender import AlertSender
from ebbtide.service.otlp.span_worker import SpanWorker
from ebbtide.service.runs.listing import find_runs
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.now import now_answer
from ebbtide.service.runs.run_event import masked_name
from ebbtide.service.web.broadcast import Broadcast
from ebbtide.service.web.mcp_door import McpDoor
from ebbtide.service.web.metrics import Metrics
from ebbtide.service.web.problems import ProblemError
from ebbtide.service.web.service_settings import ServiceSettings
from ebbtide.supervision.verdict import Verdict
from ebbtide.text.redaction import redacted

_T = TypeVar("_T")
_PLAIN = r"^[^\x00-\x1f\x7f/]+$"
SLICE_S: Final = 0.0005  #: of work in the loop after which other requests have their turn
_PATIENCE_S: Final = 0.01  # that work waits for checks before it goes on all the same


class CheckQueue:
    """Counts the checks under way, and has long work in the loop make room: a model waits for each check."""

    def __init__(self) -> None:
        self._under_way = 0
        self._are_answered = asyncio.Event()
        self._are_answered.set()

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """A check is under way meanwhile."""
        self._under_way += 1
        self._are_answered.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._are_answered.set()

    async def pause(self, since: float) -> float:
        """Let others have their turn, if the work has gone on for long, and checks all that they need.

        Args:
            since: When it began, or went on last, on the clock of `time.perf_counter`.

        Returns:
            Since when it goes on.
        """
        if time.perf_counter() - since < SLICE_S:
            return since
        await asyncio.sleep(0)
        if self._under_way:
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_S):
                    await self._are_answered.wait()
        return time.perf_counter()


class WorkPool:
    """Threads for one kind of work, apart from those that every request needs.

    Args:
        threads: Pieces of work at once: each of them slows down the loop.
        waiting: Pieces of work that may wait in all; of one peer half of them, so that another has room.
    """

    def __init__(self, name: str, *, threads: int, waiting: int) -> None:
        self._threads = ThreadPoolExecutor(threads, name)
        self._most = threads + waiting
        self._most_of_peer = threads + waiting // 2
        self._under_way: Counter[str] = Counter()

    async def run(self, peer: str, work: Callable[[], _T]) -> _T:
        """The result of some work of a peer.

        Raises:
            ProblemError: Too much is under way: 503, with the time after which to come again.
        """
        if self._under_way.total() >= self._most or self._under_way[peer] >= self._most_of_peer:
            raise ProblemError(
                503, "Other requests of this kind are worked on.", hint="Send it again in a moment.",
                retry_s=2,
            )  # fmt: skip
        self._under_way[peer] += 1
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        future.add_done_callback(lambda _: self._release(peer))
        return await asyncio.shield(future)  # a thread goes on for one who has left

    def _release(self, peer: str) -> None:
        self._under_way[peer] -= 1
        if not self._under_way[peer]:
            del self._under_way[peer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The parts of the service that a request needs.

    Args:
        checks: What the watching of events makes room for.
        watching: Held while a slice of events is watched, which takes the processor.
        looks: What reads the database for an answer.
        heavy: What goes through all events of a run.
    """

    runs: LiveRuns
    news: Broadcast
    spans: SpanWorker
    settings: ServiceSettings
    mcp: McpDoor
    alerts: AlertSender
    metrics: Metrics
    checks: CheckQueue = field(default_factory=CheckQueue)
    watching: asyncio.Lock = field(default_factory=asyncio.Lock)
    looks: WorkPool = field(default_factory=lambda: WorkPool("ebbtide-looks", threads=4, waiting=32))
    heavy: WorkPool = field(default_factory=lambda: WorkPool("ebbtide-heavy", threads=2, waiting=6))
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    @asynccontextmanager
    async def turn(self, run_id: str) -> AsyncIterator[None]:
        """One request after the other for the events of a run, as they came."""
        lock = self._turns.get(run_id)
        if lock is None:
            lock = self._turns[run_id] = asyncio.Lock()
        async with lock:
            yield

    async def require(self, run_id: str) -> None:
        """Refuse what is about a run that is not there.

        Raises:
            ProblemError: It is not.
        """
        if not await asyncio.to_thread(self.runs.database.knows, run_id):
            raise ProblemError(
                404, f"{run_id!r:.80}: no such run", where="run_id", hint="GET /v1/runs lists them."
            )

    async def flushed(self) -> None:
        """Waits until what was handed over before can be read."""
        await asyncio.wrap_future(self.runs.database.flush())

    def now(self) -> dict[str, Any]:
        """Returns what is stuck now; it reads the database."""
        silent_after_s = self.settings.silent_after_s
        return now_answer(self.runs.database, time.time(), silent_after_s=silent_after_s)

    def masked(self, value: Any) -> Any:
        """Returns a value with the keys and passwords in it masked, unless they are to be shown."""
        return redacted(value) if self.settings.redact and value is not None else value

    def verdict_fields(self, verdict: Verdict) -> dict[str, Any]:
        """Returns a verdict, for an answer."""
        fields = verdict.to_dict()
        return fields if verdict.facts is None else self.masked(fields)

    async def publish_runs(self, run_ids: Sequence[str]) -> None:
        """Tell readers of the stream how some runs stand now."""
        for row in await asyncio.to_thread(find_runs, self.runs.database, run_ids):
            self.news.publish("run", row)

    async def fetch(self, run_id: str) -> None:
        """Put a run at hand, without holding up the others."""
        if not self.runs.is_at_hand(run_id):
            await asyncio.to_thread(self.runs.get, run_id)


#: Does some work in a pool, and hands over its result.
Work = Callable[[Callable[[], Any]], Awaitable[Any]]


# Dependencies that are not async would each wait for a thread.
async def _service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _caller(request: Request, by: ByName = None) -> str:
    return _peer(request) if by is None else f"{masked_name(by)} ({_peer(request)})"


def _peer(request: Request) -> str:
    return request.client.host if request.client else "?"


async def _look(request: Request) -> Work:
    return partial((await _service_of(request)).looks.run, _peer(request))


async def _heavy(request: Request) -> Work:
    return partial((await _service_of(request)).heavy.run, _peer(request))


def name_field(description: str) -> Any:
    """A query parameter that is a name."""
    return Query(min_length=1, max_length=200, pattern=_PLAIN.replace("/", ""), description=description)


ByName = Annotated[str | None, name_field("Who does it, for the audit.")]
RunId = Annotated[
    str,
    AfterValidator(masked_name),
    Path(min_length=1, max_length=200, pattern=_PLAIN, description="The run.", examples=["invoice-7"]),
]
#: A name, kept without a key that somebody has put into it; likewise the id of a run.
Name = Annotated[str, AfterValidator(masked_name)]
#: The service, in the signature of a route.
Here = Annotated[Service, Depends(_service_of)]
#: Who asks, for the audit.
Caller = Annotated[str, Depends(_caller)]
#: Reads the database for an answer; 503 where too many do.
Look = Annotated[Work, Depends(_look)]
#: Goes through the events of a run; 503 where too many do.
Heavy = Annotated[Work, Depends(_heavy)]
