"""The news as they come, as server-sent events."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Header
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ebbtide.service.runs.listing import SpendingBy, find_runs, spending
from ebbtide.service.runs.moments import midnight
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.web.broadcast import Broadcast, Reader
from ebbtide.service.web.connection import transport_of
from ebbtide.service.web.problems import ProblemError
from ebbtide.service.web.service import Here, Service
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.verdict import Verdict

router = APIRouter(tags=["what is known"])

_EVERY_S: Final = 0.25  # between two rows of one run
_NOW_S: Final = 5.0  # between two looks at what is stuck while no run is heard of: time passes
_MOST_ROWS: Final = 200  # of one look


async def _reader(
    here: Here,
    last_event_id: Annotated[str | None, Header(max_length=100, description="Go on after it.")] = None,
) -> Reader:
    """A reader, who misses nothing from before the answer begins."""
    if not here.news.has_room:
        raise ProblemError(
            429, "There are too many readers of the stream.", hint="Close one.", retry_s=10, closes=True
        )
    return here.news.join(last_event_id)


class EventStream(Response):
    """Server-sent events, as the document of the API names them."""

    media_type = "text/event-stream"


class NewsResponse(EventStream):
    """The news as they come, until the service ends, the reader is too slow, or goes."""

    def __init__(self, news: Broadcast, reader: Reader) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._news = news
        self._reader = reader

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As every response; once it has begun, the news writes to the connection itself."""
        going = asyncio.ensure_future(_gone(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            self._reader.start(transport_of(scope), going.cancel)
            await asyncio.wait((going,))
            if going.cancelled():
                await send({"type": "http.response.body", "body": b""})
        finally:
            self._news.leave(self._reader)
            going.cancel()
            await asyncio.gather(going, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@router.get("/v1/stream", response_class=EventStream, response_model=None)
async def stream(here: Here, reader: Annotated[Reader, Depends(_reader)]) -> NewsResponse:
    """Follow what happens: `verdict`, `run`, `spend` and `now`, each with JSON.

    `verdict` says that something else is to be done about a run, `run` is a row of `/v1/runs`, `spend` what
    was spent today, `now` is what `/v1/now` says. `begin` comes first and says nothing but its id. `reset`
    says that news were missed: read `/v1/runs` again.
    """
    return NewsResponse(here.news, reader)


async def publish_news(here: Service) -> None:
    """Publishes each verdict at once, and runs and money a few times a second."""
    changes: dict[str, None] = {}

    def on_run(standing: RunStanding) -> None:
        changes[standing.run_id] = None

    def on_verdict(run_id: str, verdict: Verdict) -> None:
        here.news.publish("verdict", {"run_id": run_id, "verdict": here.verdict_fields(verdict)})

    here.runs.on_run.append(on_run)
    here.runs.on_verdict.append(on_verdict)
    published_at, latest = 0.0, None
    while True:
        await asyncio.sleep(_EVERY_S)
        here.news.keep_alive()
        run_ids = list(changes)[:_MOST_ROWS]
        for run_id in run_ids:
            changes.pop(run_id, None)
        if run_ids and not len(here.news):
            here.news.skip()
            run_ids = []
        if not len(here.news):
            continue
        news: list[tuple[str, dict[str, Any]]] = []
        if run_ids:
            await here.flushed()
            rows = await asyncio.to_thread(find_runs, here.runs.database, run_ids)
            news += [("run", row) for row in rows]
            if rows:  # they may be deleted meanwhile
                news.append(("spend", {"today": await asyncio.to_thread(_spent_today, here.runs.database)}))
        if run_ids or time.monotonic() - published_at >= _NOW_S:
            published_at = time.monotonic()
            state = await asyncio.to_thread(here.now)
            if state != latest:
                news.append(("now", state))
                latest = state
        for kind, data in news:  # together, so that each reader is written to once
            here.news.publish(kind, data)


def _spent_today(database: RunDatabase) -> list[dict[str, Any]]:
    """Returns the spending on the day of the service, by the calendar of its machine."""
    return spending(database, SpendingBy.DAY, midnight(datetime.fromtimestamp(time.time()), None))  # noqa: DTZ006
