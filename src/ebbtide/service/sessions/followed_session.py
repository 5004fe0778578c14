"""A session file that is read while its agent writes it: events out, each with its number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ebbtide.events.event import Event
from ebbtide.traces.agents.opencode import SessionTail
from ebbtide.traces.agents.opencode_storage import is_in_database
from ebbtide.traces.input.lines import Tail
from ebbtide.traces.live import TraceStream
from ebbtide.traces.reading import open_trace
from ebbtide.traces.records.readers import TraceItem


class FollowedSession:
    """Reads a session file of any coding agent.

    The same file gives the same events with the same numbers, so that a log takes each of them once.

    Args:
        path: The file, or a session in a database of OpenCode.
        chain: Put before the chains of its events; empty for a file that is the whole session.

    Raises:
        TranscriptError: It cannot be read.
    """

    def __init__(self, path: str, *, chain: str = "") -> None:
        self._path = path
        self._chain = chain
        self._tail: Tail | SessionTail | None = None
        if is_in_database(path):
            self._tail = SessionTail(path)
        elif path.endswith(".jsonl"):
            self._tail = Tail(path)
        self._begin()

    def look(self) -> Iterator[list[Event]]:
        """What is new, a piece at a time. A file that is no lines is read as a whole each time.

        Raises:
            TranscriptError: It cannot be read.
        """
        if self._tail is None:
            self._begin()
            yield self._numbered(open_trace(self._path))
            return
        while data := self._look():
            yield self._numbered(self._stream.feed(data))

    def close(self) -> None:
        """Close the file."""
        if isinstance(self._tail, Tail):
            self._tail.close()

    def _begin(self) -> None:
        self._stream = TraceStream(source=self._path)
        self._numbers: Counter[str] = Counter()  # events of each chain

    def _look(self) -> bytes:
        """New bytes; another file of the same name is read from its start."""
        data = None if self._tail is None else self._tail.look()
        if data is None and self._tail is not None:
            self._begin()
            data = self._tail.look()
        return data or b""

    def _numbered(self, items: Iterable[TraceItem]) -> list[Event]:
        events = [item for item in items if isinstance(item, Event)]
        for event in events:
            event.chain_id = ":".join(filter(None, (self._chain, event.chain_id)))
            self._numbers[event.chain_id] += 1
            event.seq = self._numbers[event.chain_id]
        return events
