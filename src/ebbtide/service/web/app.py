"""The app: every part of the API is registered here, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from fastapi import APIRouter, FastAPI
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ebbtide import __version__
from ebbtide.service.web import (
    background_work,
    check_api,
    docs_page,
    events_api,
    health_api,
    page_files,
    people_api,
    runs_api,
    sign_in,
    spans_api,
    stream_api,
)
from ebbtide.service.web.checks_first import ChecksFirst
from ebbtide.service.web.gate import RequestGate
from ebbtide.service.web.problems import Problem, answer_with_problems
from ebbtide.service.web.service import Service


class Part(NamedTuple):
    """One part of the service."""

    router: APIRouter | None = None  # its routes
    work: Callable[[Service], Awaitable[None]] | None = None  # what it does beside requests, until cancelled


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
        tasks = [asyncio.ensure_future(part.work(service)) for part in PARTS if part.work is not None]
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
    for part in PARTS:
        if part.router is not None:
            app.include_router(part.router)
    app.state.routes = [route for part in PARTS if part.router is not None for route in part.router.routes]
    answer_with_problems(app)
    app.add_middleware(ChecksFirst, checks=service.checks)
    app.add_middleware(RequestGate, settings=service.settings)
    return app


MCP_PATH: Final = "/mcp"


class _McpEndpoint:
    """Hands requests to whoever speaks the protocol."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        here: Service = scope["app"].state.service
        manager = await here.mcp.knock()
        await manager.handle_request(scope, receive, send)


async def answer_models(here: Service) -> None:
    """Answer MCP clients, once there are some."""
    await here.mcp.keep()


# Nothing is sent but answers: there is no stream to GET, and no session to DELETE.
mcp_router = APIRouter(routes=[Route(MCP_PATH, _McpEndpoint(), methods=["POST"], include_in_schema=False)])


#: A new part of the service gets a module and a row.
PARTS: Final = (
    Part(events_api.router),
    Part(people_api.router),
    Part(runs_api.router),
    Part(stream_api.router, stream_api.publish_news),
    Part(spans_api.router, spans_api.settle_spans),
    Part(work=spans_api.receive_by_grpc),
    Part(work=background_work.find_waste),
    Part(work=background_work.find_shipped),
    Part(check_api.router),
    Part(health_api.router),
    Part(work=background_work.send_alerts),
    Part(mcp_router, answer_models),
    Part(page_files.router),
    Part(docs_page.router),
    Part(sign_in.router),
    Part(work=background_work.watch_sessions),
    Part(work=background_work.erase_old_runs),
    Part(work=background_work.read_again),
)
