"""Work beside the loop: a few pieces at a time, some wait, and whoever comes then has to come again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from ebbtide.service.web.problems import ProblemError

_T = TypeVar("_T")
_RETRY_S: Final = 2


class WorkPool:
    """Threads for one kind of work, apart from those that every request needs.

    Args:
        name: Of its threads.
        threads: Pieces of work at once: each of them slows down the loop.
        waiting: Pieces of work that may wait in all; of one peer half of them, so that another has room.
    """

    def __init__(self, name: str, *, threads: int, waiting: int) -> None:
        self._threads = ThreadPoolExecutor(threads, name)
        self._most = threads + waiting
        self._most_of_peer = threads + waiting // 2
        self._under_way: Counter[str] = Counter()

    async def run(self, peer: str, work: Callable[[], _T]) -> _T:
        """The result of some work of a peer.

        Raises:
            ProblemError: Too much is under way: 503, with the time after which to come again.
        """
        if self._under_way.total() >= self._most or self._under_way[peer] >= self._most_of_peer:
            raise ProblemError(
                503, "Other requests of this kind are worked on.", hint="Send it again in a moment.",
                retry_s=_RETRY_S,
            )  # fmt: skip
        self._under_way[peer] += 1
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        future.add_done_callback(lambda _: self._release(peer))
        return await asyncio.shield(future)  # a thread goes on for one who has left

    def _release(self, peer: str) -> None:
        self._under_way[peer] -= 1
        if not self._under_way[peer]:
            del self._under_way[peer]
