"""Sends news to everybody who listens: bounded for each reader, and kept for those who come back."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from typing import Any, Final, NamedTuple

_MOST_KEPT: Final = 2000
_LONGEST_QUEUE: Final = 2000  # news that a reader may be behind


class News(NamedTuple):
    """One piece of news, encoded once for however many readers."""

    kind: str  # verdict, run, spend; `begin` at first, `reset` where some were missed
    wire: bytes  # as the stream sends it


def _news(number: str, kind: str, data: dict[str, Any]) -> News:
    text = json.dumps(data, separators=(",", ":"))
    return News(kind, f"event: {kind}\ndata: {text}\nid: {number}\n\n".encode())


#: What waits for one reader; None is the end.
Reader = asyncio.Queue[News | None]


class Broadcast:
    """Tells its readers the news, from any thread.

    Args:
        readers: How many there may be at once.
    """

    def __init__(self, *, readers: int) -> None:
        self._most = readers
        self._readers: set[Reader] = set()
        self._news: deque[News] = deque(maxlen=_MOST_KEPT)
        self._boot = int(time.time())  # numbers of another process are of no use
        self._number = 0
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
        reader: Reader = asyncio.Queue(_LONGEST_QUEUE + 1)
        for news in self._missed(last_id):
            reader.put_nowait(news)
        self._readers.add(reader)
        return reader

    def leave(self, reader: Reader) -> None:
        """End to listen."""
        self._readers.discard(reader)

    def _publish(self, kind: str, data: dict[str, Any]) -> None:
        self._number += 1
        news = _news(f"{self._boot}-{self._number}", kind, data)
        self._news.append(news)
        for queue in list(self._readers):
            if queue.qsize() < _LONGEST_QUEUE:
                queue.put_nowait(news)
            else:
                self._end(queue)

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

    def _end(self, queue: Reader) -> None:
        self._readers.discard(queue)
        while not queue.empty():
            queue.get_nowait()
        queue.put_nowait(None)

    def _end_all(self) -> None:
        for queue in list(self._readers):
            self._end(queue)
