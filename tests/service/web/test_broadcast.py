"""News to many readers, over real connections of this machine."""

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ebbtide.service.web import broadcast
from ebbtide.service.web.broadcast import Broadcast

MANY = 250  # readers: more than are written to at once
WITHIN_S = 60


class Listener(asyncio.Protocol):
    """The service's end of one connection, which listens as the stream does after its head."""

    def __init__(self, news: Broadcast) -> None:
        self.news = news
        self.ended = 0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.reader = self.news.join()
        self.reader.start(transport, self.end)

    def end(self) -> None:
        self.ended += 1
        self.transport.write(b"0\r\n\r\n")

    def connection_lost(self, error: Exception | None) -> None:
        self.news.leave(self.reader)


def run(case: Callable[[Broadcast, int, list[Listener]], Awaitable[None]]) -> None:
    """Run a case in a loop of its own, with a port where readers are taken."""

    async def all_of_it() -> None:
        news, listeners = Broadcast(readers=10_000), []

        def new() -> Listener:
            listeners.append(Listener(news))
            return listeners[-1]

        news.open()
        server = await asyncio.get_running_loop().create_server(new, "127.0.0.1", 0)
        async with server:
            async with asyncio.timeout(WITHIN_S):
                await case(news, server.sockets[0].getsockname()[1], listeners)
            for listener in listeners:
                listener.transport.abort()

    asyncio.run(all_of_it())


async def numbers(stream: asyncio.StreamReader, last: int) -> list[int]:
    """The numbers of the news that come, up to one."""
    got: list[int] = []
    while not got or got[-1] != last:
        size = int(await stream.readline(), 16)
        text = (await stream.readexactly(size + 2)).decode()
        got += [json.loads(line[6:])["n"] for line in text.splitlines() if line.startswith('data: {"n"')]
    return got


def test_every_reader_has_all_news_in_their_order() -> None:
    """News from threads, and readers who come meanwhile: each has every number once, in a row."""

    async def case(news: Broadcast, port: int, listeners: list[Listener]) -> None:
        streams = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MANY)]
        for stream, _ in streams:
            await stream.readuntil(b"event: begin")
            await stream.readuntil(b"\n\n\r\n")

        def publish() -> None:
            for number in range(300):
                news.publish("run", {"n": number})

        thread = threading.Thread(target=publish)
        thread.start()
        late = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MANY)]
        thread.join()
        news.publish("run", {"n": 300})
        for stream, _ in streams:
            assert await numbers(stream, 300) == list(range(301))
        for stream, _ in late:
            begin = (await stream.readuntil(b"\n\n\r\n")).decode()
            first = int(begin.rpartition("-")[2])
            assert await numbers(stream, 300) == list(range(first, 301))
        for _, writer in streams + late:
            writer.close()

    run(case)


def test_who_reads_nothing_is_cut_off_and_the_others_go_on() -> None:
    async def case(news: Broadcast, port: int, listeners: list[Listener]) -> None:
        with socket.create_connection(("127.0.0.1", port)) as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stream, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
            await stream.readuntil(b"\n\n\r\n")
            count = 0
            while len(news) == 2:
                news.publish("run", {"n": count, "text": "x" * 100_000})
                assert await numbers(stream, count) == [count]
                count += 1
                assert count < 1000
            news.publish("run", {"n": count})
            assert await numbers(stream, count) == [count]
            writer.close()

    run(case)


def test_silence_is_broken_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would take a silent connection for dead; after news nothing is needed for a while."""

    async def case(news: Broadcast, port: int, listeners: list[Listener]) -> None:
        stream, writer = await asyncio.open_connection("127.0.0.1", port)
        await stream.readuntil(b"\n\n\r\n")
        news.publish("run", {"n": 0})
        assert await numbers(stream, 0) == [0]
        news.keep_alive()
        monkeypatch.setattr(broadcast, "_PING_S", 0.0)
        news.keep_alive()
        assert await stream.readuntil(b"\r\n: ping\n\n\r\n") == b"8\r\n: ping\n\n\r\n"
        writer.close()

    run(case)


def test_everybody_is_told_the_end_once() -> None:
    """Who joins after it, or whose answer begins after it, is told so too."""

    async def case(news: Broadcast, port: int, listeners: list[Listener]) -> None:
        stream, writer = await asyncio.open_connection("127.0.0.1", port)
        await stream.readuntil(b"\n\n\r\n")
        reader = news.join()
        news.close()
        assert await stream.readuntil(b"0\r\n\r\n") == b"0\r\n\r\n"
        assert (listeners[0].ended, len(news), news.has_room) == (1, 0, False)
        ends: list[int] = []
        reader.start(listeners[0].transport, lambda: ends.append(1))
        assert ends == [1]
        writer.close()

    run(case)
