"""Streams of providers' SDKs: one that is watched, and one that stands in for a call that was not made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Self


class WatchedStream:
    """Stream of an SDK; what came of it is recorded at its end, and where its reader leaves early.

    Args:
        end: Takes the items that came.
        fail: Takes them in place of it if the stream fails; None leaves that to `end`.
        hides: Picks items that the reader did not ask for; None shows all.
    """

    def __init__(
        self,
        stream: Any,
        end: Callable[[list[Any]], None],
        fail: Callable[[list[Any]], None] | None = None,
        hides: Callable[[Any], bool] | None = None,
    ) -> None:
        self._stream = stream
        self._end: Callable[[list[Any]], None] | None = end
        self._fail = fail
        self._hides = hides
        self._parts: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        try:
            for part in self._stream:
                self._parts.append(part)
                if self._hides is None or not self._hides(part):
                    yield part
        except Exception:
            self._break_off()
            raise
        finally:
            self._finish()

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            async for part in self._stream:
                self._parts.append(part)
                if self._hides is None or not self._hides(part):
                    yield part
        except Exception:
            self._break_off()
            raise
        finally:
            self._finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.__exit__(*error)
        self._finish()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stream.__aexit__(*error)
        self._finish()

    def _break_off(self) -> None:
        if self._fail is not None:
            self._end = None
            self._fail(self._parts)

    def _finish(self) -> None:
        end, self._end = self._end, None
        if end is not None:
            end(self._parts)


class LastStream:
    """Last words of a run, as the items of a stream: for readers that are sync or async."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self._parts = parts

    @property
    def response(self) -> Self:
        """Object in place of the answer over HTTP, which can be closed."""
        return self

    @property
    def request(self) -> Self:
        """Object in place of the request over HTTP."""
        return self

    @property
    def headers(self) -> Mapping[str, str]:
        """Returns none: nothing was sent."""
        return {}

    def close(self) -> _Nothing:
        """Does nothing: there is nothing to close."""
        return _Nothing()

    aclose = close

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    async def __aiter__(self) -> AsyncIterator[Any]:
        for part in self._parts:
            yield part

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class _Nothing:
    """Result of closing, which may be awaited."""

    def __await__(self) -> Generator[None, None, None]:
        return iter(())  # type: ignore[return-value]
