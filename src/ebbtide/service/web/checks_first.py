"""Checks go before the watching of events: a model waits for each of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

SLICE_S: Final = 0.0005  # of work after which other requests have their turn
_PATIENCE_S: Final = 0.01  # that work waits for checks before it goes on all the same


class CheckQueue:
    """Counts the checks under way, and has long work in the loop make room for them."""

    def __init__(self) -> None:
        self._under_way = 0
        self._are_answered = asyncio.Event()
        self._are_answered.set()

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """A check is under way meanwhile."""
        self._under_way += 1
        self._are_answered.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._are_answered.set()

    async def pause(self, since: float) -> float:
        """Let others have their turn, if the work has gone on for long, and checks all that they need.

        Args:
            since: When it began, or went on last, on the clock of `time.perf_counter`.

        Returns:
            Since when it goes on.
        """
        if time.perf_counter() - since < SLICE_S:
            return since
        await asyncio.sleep(0)
        if self._under_way:
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_S):
                    await self._are_answered.wait()
        return time.perf_counter()


class ChecksFirst:
    """Tells the queue of each check that comes.

    Args:
        app: The app behind it.
        checks: The queue.
    """

    def __init__(self, app: ASGIApp, checks: CheckQueue) -> None:
        self._app = app
        self._checks = checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As every ASGI app."""
        if scope["type"] != "http" or not scope["path"].endswith("/check"):
            await self._app(scope, receive, send)
            return
        with self._checks.one_more():
            await self._app(scope, receive, send)
