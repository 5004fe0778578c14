"""What becomes of a stream: its items are handed over once, however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from ebbtide.adapters.watched_stream import WatchedStream


class Broken:
    """A stream that fails after two items."""

    def __iter__(self) -> Iterator[int]:
        yield from (1, 2)
        raise OSError("gone")

    async def __aiter__(self) -> AsyncIterator[int]:
        for number in (1, 2):
            yield number
        raise OSError("gone")


async def read(stream: WatchedStream) -> None:
    async for _ in stream:
        pass


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("fails", "ends", "failures"), [(True, [], [[1, 2]]), (False, [[1, 2]], [])])
def test_a_stream_that_fails(is_async, fails, ends, failures) -> None:
    """Its failure is told where somebody wants it; else what came until then is what it was."""
    got: list[list[int]] = []
    faults: list[list[int]] = []
    stream = WatchedStream(Broken(), got.append, faults.append if fails else None)
    with pytest.raises(OSError, match="gone"):
        asyncio.run(read(stream)) if is_async else list(stream)
    assert (got, faults) == (ends, failures)


def test_a_reader_that_leaves_early() -> None:
    """What it read is handed over, and once."""
    got: list[list[int]] = []
    stream = WatchedStream([1, 2, 3], got.append, lambda _: pytest.fail("nothing failed"))
    reading = iter(stream)
    next(reading)
    reading.close()  # type: ignore[attr-defined]
    list(stream)
    assert got[0][:1] == [1]
    assert len(got) == 1
