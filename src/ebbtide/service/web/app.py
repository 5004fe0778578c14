"""The app: every part of the API is registered here, beside what it tells of its own health."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

from fastapi import APIRouter, FastAPI, Query
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.routing import Route

from ebbtide import __version__
from ebbtide.service.client import token_proof
from ebbtide.service.web import (
    background_work,
    events_api,
    pages,
    people_api,
    runs_api,
    sign_in,
    spans_api,
    stream_api,
)
from ebbtide.service.web.answers import HealthAnswer
from ebbtide.service.web.gate import RequestGate
from ebbtide.service.web.problems import PlainJson, Problem, answer_with_problems
from ebbtide.service.web.service import Here, Service

_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    code: {"model": Problem, "description": description, "content": {"application/problem+json": {}}}
    for code, description in (
        ("4XX", "The request is refused: `detail` says why, `hint` what to do."),
        ("5XX", "The service cannot do it now: send it again."),
    )
}


def new_app(service: Service) -> FastAPI:
    """The app of a service."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.news.open()
        tasks = [asyncio.ensure_future(work(service)) for work in _WORK]
        try:
            yield
        finally:
            service.news.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    app = FastAPI(
        title="Ebbtide",
        version=__version__,
        summary="Which runs are stuck, what they cost, and what to do about them.",
        lifespan=lifespan,
        docs_url=None,  # its scripts come from another host, which the policy of this one refuses
        redoc_url=None,
        responses=_PROBLEMS,
    )
    app.state.service = service
    # Nothing is sent to models but answers: there is no stream to GET, and no session to DELETE.
    mcp = Route("/mcp", service.mcp, methods=["POST"], include_in_schema=False)
    routers = (*_ROUTERS, APIRouter(routes=[mcp]))
    for router in routers:
        app.include_router(router)
    app.state.routes = [route for router in routers for route in router.routes]
    answer_with_problems(app)
    app.add_middleware(RequestGate, settings=service.settings)
    return app


_router = APIRouter(tags=["the service"])


@_router.get("/healthz", response_model=HealthAnswer)
async def health(
    here: Here,
    nonce: Annotated[
        str | None,
        Query(min_length=16, max_length=128, description="What the service is to prove with its token."),
    ] = None,
) -> PlainJson:
    """Say that the service is up, and what has failed; no token is wanted.

    To a nonce it shows that it knows the token: the HMAC (SHA-256) of the nonce. So who is about to
    send the token sees that nobody else listens there.
    """
    token = here.settings.token
    alerts = {f"alerts_{name}": number for name, number in here.alerts.failures.items() if number}
    return PlainJson(
        {
            "status": "ok",
            "version": __version__,
            "runs_at_hand": len(here.runs),
            "readers": len(here.news),
            "faults": {**here.runs.faults, **alerts},
            "proof": None if nonce is None or token is None else token_proof(token, nonce),
        }
    )


@_router.get("/metrics", response_class=PlainTextResponse)
async def metrics(here: Here) -> PlainTextResponse:
    """Show what the service counts, in the text format of Prometheus."""
    text = await asyncio.to_thread(here.metrics.text)
    return PlainTextResponse(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)


#: A new part of the API gets a module, and its router a row.
_ROUTERS: Final = (
    events_api.router,
    people_api.router,
    runs_api.router,
    stream_api.router,
    spans_api.router,
    runs_api.recorded_router,
    _router,
    pages.router,
    sign_in.router,
)
#: What the service does beside requests, until cancelled.
_WORK: Final[tuple[Callable[[Service], Awaitable[None]], ...]] = (
    stream_api.publish_news,
    spans_api.settle_spans,
    spans_api.receive_by_grpc,
    background_work.find_waste,
    background_work.find_shipped,
    lambda here: here.alerts.run(),
    lambda here: here.mcp.keep(),
    background_work.watch_sessions,
    background_work.erase_old_runs,
    background_work.read_again,
)
