"""Tools for models, over streamable HTTP."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ebbtide.service.web.service import Service

PATH = "/mcp"


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
router = APIRouter(routes=[Route(PATH, _McpEndpoint(), methods=["POST"], include_in_schema=False)])
