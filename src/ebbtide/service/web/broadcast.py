"""Sends news to everybody who listens: bounded for each reader, and kept for those who come back."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

_MOST_KEPT: Final = 2000
_LONGEST_QUEUE: Final = 1 << 20  # bytes that a reader may be behind
_SLICE: Final = 100  # readers that are written to before other requests have their turn
_PING_S: Final = 15.0  # of silence, after which a proxy would take the connection for dead


class News(NamedTuple):
    """One piece of news, encoded once for however many readers."""

    kind: str  # verdict, run, spend; `begin` at first, `reset` where some were missed
    wire: bytes  # as the stream sends it, in a chunk of HTTP


def _chunk(wire: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(wire), wire)


def _news(number: str, kind: str, data: dict[str, Any]) -> News:
    text = json.dumps(data, separators=(",", ":"))
    return News(kind, _chunk(f"event: {kind}\ndata: {text}\nid: {number}\n\n".encode()))


_PING: Final = _chunk(b": ping\n\n")


class Reader:
    """One who listens, on a connection of theirs: news is written there at once, without a task of its own.

    Args:
        missed: What they have missed, as the stream sends it.
    """

    __slots__ = ("_end", "_is_over", "_transport", "_waiting")

    def __init__(self, missed: list[bytes]) -> None:
        self._waiting = missed  # until the answer begins
        self._transport: asyncio.Transport | None = None
        self._end: Callable[[], object] | None = None
        self._is_over = False

    def start(self, transport: asyncio.Transport, end: Callable[[], object]) -> None:
        """Write what waits, and from now on what comes.

        Args:
            transport: The connection, after the head of the answer.
            end: Called where nothing more will come.
        """
        self._transport, self._end = transport, end
        transport.write(b"".join(self._waiting))
        self._waiting = []
        if self._is_over:
            end()

    def take(self, wire: bytes) -> bool:
        """Write some news; False where the reader is too far behind, whose connection is cut then."""
        if self._transport is None:
            self._waiting.append(wire)
            self._is_over = len(self._waiting) > _MOST_KEPT
            return not self._is_over
        if self._transport.is_closing():
            return True  # they are about to leave
        if self._transport.get_write_buffer_size() > _LONGEST_QUEUE:
            self._transport.abort()
            return False
        self._transport.write(wire)
        return True

    def end(self) -> None:
        """Say that nothing more will come."""
        self._is_over = True
        if self._end is not None:
            self._end()


class Broadcast:
    """Tells its readers the news, from any thread."""

    def __init__(self, *, readers: int) -> None:
        self._most = readers
        self._readers: set[Reader] = set()
        self._news: deque[News] = deque(maxlen=_MOST_KEPT)
        self._boot = int(time.time())  # numbers of another process are of no use
        self._number = 0
        self._audience: tuple[Reader, ...] | None = None  # all who listen; None where others came
        self._due: deque[tuple[bytes, tuple[Reader, ...]]] = deque()  # what no reader has yet
        self._is_sending = False
        self._latest_at = 0.0  # when there was something to read
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_over = False

    @property
    def has_room(self) -> bool:
        """True if one more may listen."""
        return len(self._readers) < self._most and not self._is_over

    def __len__(self) -> int:
        """Readers."""
        return len(self._readers)

    def open(self) -> None:
        """Begin, in the loop that is running."""
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Have every reader end; a signal handler may do so."""
        self._is_over = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end_all)

    def publish(self, kind: str, data: dict[str, Any]) -> None:
        """Tell everybody; before `open` and after `close` nobody listens."""
        if self._loop is not None and not self._is_over and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._publish, kind, data)

    def skip(self) -> None:
        """Marks that news was not sent, since nobody listens: who comes back has to look anew."""
        self._news.clear()
        self._number += 1

    def join(self, last_id: str | None = None) -> Reader:
        """Begin to listen: the news after those up to `last_id`, and all that come from now on.

        Where some of them are not kept any more, `reset` comes first: the reader has to look anew. To a new
        reader `begin` does: who loses the connection before any other news goes on after it.
        """
        reader = Reader([news.wire for news in self._missed(last_id)])
        self._readers.add(reader)
        self._audience = None
        return reader

    def leave(self, reader: Reader) -> None:
        """End to listen."""
        self._readers.discard(reader)

    def keep_alive(self) -> None:
        """Write something that says nothing, where all was silent for long."""
        if time.monotonic() - self._latest_at >= _PING_S:
            self._send(_PING)

    def _publish(self, kind: str, data: dict[str, Any]) -> None:
        self._number += 1
        news = _news(f"{self._boot}-{self._number}", kind, data)
        self._news.append(news)
        self._send(news.wire)

    def _send(self, wire: bytes) -> None:
        """Have all who listen now get it, after what came before."""
        self._latest_at = time.monotonic()
        if self._audience is None:
            self._audience = tuple(self._readers)
        self._due.append((wire, self._audience))
        if not self._is_sending:
            self._is_sending = True
            asyncio.get_running_loop().call_soon(self._send_due)

    def _send_due(self) -> None:
        """Begin with all that is due for the same readers: it is written to each at once."""
        if not self._due:
            self._is_sending = False
            return
        wire, audience = self._due.popleft()
        wires = [wire]
        while self._due and self._due[0][1] is audience:
            wires.append(self._due.popleft()[0])
        self._send_some(b"".join(wires), audience, 0)

    def _send_some(self, wire: bytes, audience: tuple[Reader, ...], first: int) -> None:
        """Write to some readers; between two slices others have their turn."""
        last = first + _SLICE
        for reader in audience[first:last]:
            if reader in self._readers and not reader.take(wire):
                self._readers.discard(reader)
        loop = asyncio.get_running_loop()
        if last < len(audience):
            loop.call_soon(self._send_some, wire, audience, last)
        else:
            loop.call_soon(self._send_due)

    def _missed(self, last_id: str | None) -> list[News]:
        latest_id = f"{self._boot}-{self._number}"
        if last_id is None:
            return [_news(latest_id, "begin", {})]
        boot, _, number = last_id.partition("-")
        first = self._number - len(self._news)  # the number before the first that is kept
        if (
            boot != str(self._boot)
            or not number[:18].isdecimal()
            or not first <= int(number[:18]) <= self._number
        ):
            return [_news(latest_id, "reset", {})]
        return list(self._news)[int(number[:18]) - first :]

    def _end_all(self) -> None:
        for reader in list(self._readers):
            self._readers.discard(reader)
            reader.end()
