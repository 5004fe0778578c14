"""Connections of the service: bounded in number, in the time of a head and in its size."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

_LARGEST_HEAD: Final = 64 << 10  # bytes
_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
)
_TOO_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_EXTENSION: Final = "ebbtide.connection"


class ConnectionPlaces:
    """The connections that are open, by peer.

    Where there are as many as there may be, the one makes room that has waited longest for a request: one of
    the same peer, where it has half of all, else any.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._peers: dict[TimedConnection, str] = {}
        self._crowds: dict[str, dict[TimedConnection, None]] = {}

    def take(self, connection: TimedConnection, peer: str) -> None:
        """Give a place to a connection."""
        own = self._crowds.get(peer, {})
        has_half = len(own) >= self._most // 2
        if has_half or len(self._peers) >= self._most:
            idle = next((each for each in (own if has_half else self._peers) if each.is_idle), None)
            if idle is not None:
                self.leave(idle)
                idle.transport.close()
        self._peers[connection] = peer
        self._crowds.setdefault(peer, {})[connection] = None

    def leave(self, connection: TimedConnection) -> None:
        """Make its place free, where it has one still."""
        peer = self._peers.pop(connection, None)
        if peer is None:
            return
        crowd = self._crowds[peer]
        del crowd[connection]
        if not crowd:
            del self._crowds[peer]


def transport_of(scope: Scope) -> asyncio.Transport:
    """Returns the connection on which a request came, for an answer that is written to it directly."""
    transport: asyncio.Transport = scope["extensions"][_EXTENSION]["transport"]
    return transport


class TimedConnection(HttpToolsProtocol):
    """A connection as uvicorn has it, which waits so long for the head of each request, and reads so much.

    Args:
        head_s: Seconds that a head may take to come.
    """

    def __init__(self, *, head_s: float, places: ConnectionPlaces, **options: Any) -> None:
        super().__init__(**options)
        self._head_s = head_s
        self._head_bytes = self._field_bytes = 0
        self._places = places
        self._answering: deque[RequestResponseCycle] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As of the base."""
        super().connection_made(transport)
        self._places.take(self, str((transport.get_extra_info("peername") or ("",))[0]))
        self._wait()

    @property
    def is_idle(self) -> bool:
        """True if no request has come to its head, or the last one is answered."""
        return self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """As of the base; a connection that stays open waits from the first byte of the next request."""
        if self._timer is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()
        self._head_bytes += len(data)
        super().data_received(data)
        if self._timer is not None and self._head_bytes > _LARGEST_HEAD and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        """As of the base."""
        self._field_bytes = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """As of the base; those behind a body count too, which the base keeps for ever.

        Raises:
            ValueError: They are too large together.
        """
        self._field_bytes += len(name) + len(value)
        if self._field_bytes > _LARGEST_HEAD:
            raise ValueError("too many header fields")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """As of the base."""
        self._wait_no_more()
        self._head_bytes = 0
        self.scope["extensions"] = {_EXTENSION: {"transport": self.transport}}
        super().on_headers_complete()
        while self._answering and self._answering[0].response_complete:
            self._answering.popleft()
        if self.cycle is not None:
            self._answering.append(self.cycle)

    def connection_lost(self, exc: Exception | None) -> None:
        """As of the base, which knows the latest request alone; the one before may still be answered."""
        self._wait_no_more()
        self._places.leave(self)
        for cycle in self._answering:
            cycle.disconnected = True
            cycle.message_event.set()
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
