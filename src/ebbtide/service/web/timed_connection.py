"""Connections whose requests begin in bounded time: a caller who sends nothing holds no place for ever."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TOO_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class TimedConnection(HttpToolsProtocol):
    """A connection as uvicorn has it, which waits so long for the head of each request.

    Args:
        head_s: Seconds that a head may take to come.
        options: As of the base.
    """

    def __init__(self, *, head_s: float, **options: Any) -> None:
        super().__init__(**options)
        self._head_s = head_s
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As of the base."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """As of the base; a connection that stays open waits from the first byte of the next request."""
        if self._timer is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """As of the base."""
        self._wait_no_more()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """As of the base."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self._head_s, self._end)

    def _wait_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.write(_TOO_SLOW)
            self.transport.close()
