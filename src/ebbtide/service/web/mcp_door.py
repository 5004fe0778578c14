"""The way of MCP clients into the service: the libraries for it are loaded when the first one comes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from ebbtide.service.mcp.desk import Desk

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_LARGEST = 1 << 30  # the gate has bounded the body already


class McpDoor:
    """An ASGI app that opens when somebody knocks."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._is_wanted = asyncio.Event()
        self._is_settled = asyncio.Event()
        self._manager: StreamableHTTPSessionManager | None = None
        self._error: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request.

        Raises:
            Exception: The libraries cannot be loaded.
        """
        self._is_wanted.set()
        await self._is_settled.wait()
        if self._manager is None:
            raise self._error or RuntimeError("the service is ending")
        await self._manager.handle_request(scope, receive, send)

    async def keep(self) -> None:
        """Answer requests until cancelled, from the first one on."""
        await self._is_wanted.wait()
        try:
            manager = await asyncio.to_thread(self._load)
            async with manager.run():
                self._manager = manager
                self._is_settled.set()
                await asyncio.Event().wait()
        except Exception as error:
            self._error = error
            raise
        finally:
            self._manager = None
            self._is_settled.set()

    def _load(self) -> StreamableHTTPSessionManager:
        from mcp.server.transport_security import TransportSecuritySettings

        from ebbtide.service.mcp.tool_server import Transport, new_server

        server = new_server(self._desk, Transport.HTTP)
        # Every request stands for itself: a restart of the service loses no session. The gate has looked at
        # Host and Origin.
        server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            max_request_body_size=_LARGEST,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        manager: StreamableHTTPSessionManager = server.session_manager
        return manager
