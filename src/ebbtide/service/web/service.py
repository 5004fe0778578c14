"""The running service, as every part of the API reaches it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any
from weakref import WeakValueDictionary

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator

from ebbtide.service.alerts.alert_sender import AlertSender
from ebbtide.service.otlp.span_worker import SpanWorker
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_event import masked_name
from ebbtide.service.web.broadcast import Broadcast
from ebbtide.service.web.checks_first import CheckQueue
from ebbtide.service.web.mcp_door import McpDoor
from ebbtide.service.web.metrics import Metrics
from ebbtide.service.web.service_settings import ServiceSettings
from ebbtide.service.web.work_pool import WorkPool

_PLAIN = r"^[^\x00-\x1f\x7f/]+$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The parts of the service that a request needs.

    Args:
        news: The news for the readers of the stream.
        spans: What takes exported spans.
        settings: What the service was started with.
        mcp: The way of MCP clients.
        alerts: What tells people.
        metrics: What is counted.
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
