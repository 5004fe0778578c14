"""A session file that is read while its agent writes it: events out, each with its number."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ebbtide.events.event import Event
from ebbtide.traces.agents.session_database import is_in_database
from ebbtide.traces.agents.session_tail import StoredTail, stored_tail
from ebbtide.traces.input.lines import Tail
from ebbtide.traces.input.source import is_session_file
from ebbtide.traces.live import TraceStream
from ebbtide.traces.reading import open_trace
from ebbtide.traces.records.readers import TraceItem


class FollowedSession:
    """Reads a session file of any coding agent.

    The same file gives the same events with the same numbers, so that a log takes each of them once. When it
    is at rest, what is open in it is given at once: the places of these rests are kept before, and a reader
    that begins anew rests at the same ones.

    Args:
        path: The file, or a session in a database or in many files.
        chain: Put before the chains of its events; empty for a file that is the whole session.
        rests: Bytes after which it was at rest before, in any order.
        keep_rest: Keeps one more of them, before what it gives is given.

    Raises:
        TranscriptError: It cannot be read.
    """

    def __init__(
        self,
        path: str,
        *,
        chain: str = "",
        rests: Iterable[int] = (),
        keep_rest: Callable[[int], None] | None = None,
    ) -> None:
        self._path = path
        self._chain = chain
        self._rests = sorted(rests)
        self._keep_rest = keep_rest
        self._tail: Tail | StoredTail | None = None
        if is_in_database(path) or is_session_file(path):
            self._tail = stored_tail(path)
        elif path.endswith(".jsonl"):
            self._tail = Tail(path)
        self._begin()

    def look(self) -> Iterator[list[Event]]:
        """Yields what is new, a piece at a time. A file that is no lines is read as a whole each time.

        Raises:
            TranscriptError: It cannot be read.
        """
        if self._tail is None:
            self._begin()
            yield self._numbered(open_trace(self._path))
            return
        while data := self._look():
            yield self._numbered(self._fed(data))
        if settled := self._stream.settle():
            insort(self._rests, self._at)
            if self._keep_rest is not None:
                self._keep_rest(self._at)
            yield self._numbered(settled)

    @property
    def is_waiting(self) -> bool:
        """True if the next look gives more, whether the session changes or not."""
        return not isinstance(self._tail, Tail | None) and self._tail.is_waiting

    def close(self) -> None:
        """Close the file."""
        if isinstance(self._tail, Tail):
            self._tail.close()

    def _begin(self) -> None:
        self._stream = TraceStream(source=self._path)
        self._numbers: Counter[str] = Counter()  # events of each chain
        self._at = 0  # bytes that were read

    def _look(self) -> bytes:
        """New bytes; another file of the same name is read from its start."""
        data = None if self._tail is None else self._tail.look()
        if data is None and self._tail is not None:
            self._begin()
            data = self._tail.look()
        return data or b""

    def _fed(self, data: bytes) -> list[TraceItem]:
        """Returns the items of more bytes, with the rests of an earlier reading among them."""
        items: list[TraceItem] = []
        start, end = self._at, self._at + len(data)
        for rest in self._rests[bisect_right(self._rests, start) : bisect_right(self._rests, end)]:
            items += self._stream.feed(data[self._at - start : rest - start])
            items += self._stream.settle()
            self._at = rest
        items += self._stream.feed(data[self._at - start :])
        self._at = end
        return items

    def _numbered(self, items: Iterable[TraceItem]) -> list[Event]:
        events = [item for item in items if isinstance(item, Event)]
        for event in events:
            event.chain_id = ":".join(filter(None, (self._chain, event.chain_id)))
            self._numbers[event.chain_id] += 1
            event.seq = self._numbers[event.chain_id]
        return events
