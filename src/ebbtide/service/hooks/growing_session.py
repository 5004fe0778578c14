"""News of a session file since the last look: calls of the model, what they took, and words put in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.model_call_id import CallId
from ebbtide.regular_file import open_regular
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.provider_usage import has_spent
from ebbtide.traces.records.readers import EventReader, SettlingReader, TraceItem

_MOST: Final = 4 << 20  # bytes of one look; the rest is for the next
_WARM: Final = 8 << 20  # bytes before the place that are read again after a restart, for the calls in them
_LAST: Final = 512 << 10  # bytes in which the last words of a session stand
_LONGEST: Final = 32 << 20  # bytes of a line


class SessionCalls:
    """The calls of a session in all of its files, each once.

    A sub-agent writes its calls into a file of its own, and its parent writes them, or the last of them, too.

    Attributes:
        once: The calls, with what they took.
        given: Those that were given as calls.
    """

    def __init__(self) -> None:
        self.once = CallsOnce()
        self.given: set[CallId] = set()


class GrowingSession:
    """A session file that an agent writes while it is read.

    The words of the model are left out: what it says between its calls is no conversation to judge. Those
    that the harness puts in are there: no hook reports them.

    Args:
        path: The file; it may come later.
        reader: Makes a reader of its lines, given the calls of the session.
        chain: The chain that its calls belong to; a reader may know of others.
        place: Bytes that were read before; None begins where the file ends now.
        calls: Calls of the model that were there before.
        settled: Bytes at which it was at rest before, so that the open call was given.
        session: The calls in all files of the session; None where this is the only one.
    """

    def __init__(
        self,
        path: str,
        reader: Callable[[CallsOnce], EventReader],
        *,
        chain: str,
        place: int | None = None,
        calls: int = 0,
        settled: int = 0,
        session: SessionCalls | None = None,
    ) -> None:
        self.path = path
        self._session = SessionCalls() if session is None else session
        self._new_reader = reader
        self._reader = reader(self._session.once)
        self._chain = chain
        self._rest = b""
        self.calls = calls
        self.settled = settled
        self._number: int | None = None
        if place is None:
            place = self._size()
        self._at = place
        self._warm_until = place
        if place:
            self._begin(max(0, place - _WARM))

    @property
    def place(self) -> int:
        """Bytes that were read, up to the last whole line."""
        return max(self._at - len(self._rest), self._warm_until)

    def look(self) -> list[Event]:
        """Returns what calls of the model have taken since the last look, and what was put in between.

        A file that became shorter is another one: it is read from its start.
        """
        try:
            with open_regular(self.path) as file:
                status = os.fstat(file.fileno())
                if status.st_size < self._at or (self._number is not None and self._number != status.st_ino):
                    self._begin(0)
                    self._warm_until = self.settled = 0
                self._number = status.st_ino
                file.seek(self._at)
                events: list[Event] = []
                is_warm = False
                while not is_warm:
                    is_warm = self._at >= self._warm_until
                    data = file.read(_MOST)
                    for line_end, line in self._lines(data):
                        events += self._taken(line, line_end)
                    is_warm = is_warm or not data
        except (OSError, ValueError):
            return []
        self.calls += sum(isinstance(event, ModelCall) for event in events)
        return events

    def settle(self) -> list[Event]:
        """Returns events that are open while the agent rests; a later line adds to them as usage alone."""
        self.settled = self.place
        return self._ended(self._open())

    def finish(self) -> list[Event]:
        """Returns the events that were still open: the session is over."""
        self.settled = self.place
        return self._ended(self._reader.finish())

    def _open(self) -> Sequence[TraceItem]:
        return self._reader.settle() if isinstance(self._reader, SettlingReader) else ()

    def _ended(self, items: Iterable[object]) -> list[Event]:
        events = [plain for item in items if (plain := self._plain(item)) is not None]
        self.calls += sum(isinstance(event, ModelCall) for event in events)
        return events

    def _begin(self, at: int) -> None:
        self._at = at
        self._rest = b""
        self._reader = self._new_reader(self._session.once)

    def _lines(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Whole lines, each with the place where it ends."""
        start = self._at - len(self._rest)
        self._at += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST:
            self._rest = b""
        for line in lines:
            start += len(line) + 1
            yield start, line

    def _taken(self, line: bytes, line_end: int) -> list[Event]:
        if not line.strip():
            return []
        try:
            events = self._reader.read(json_value(line.decode()), "")
        except (TranscriptError, UnicodeDecodeError, RecursionError):
            return []
        is_warm = line_end <= self._warm_until
        if is_warm and line_end == self.settled:
            events = [*events, *self._open()]  # as it was given then
        plain = [own for event in events if (own := self._plain(event)) is not None]
        return [] if is_warm else plain

    def _plain(self, event: object) -> Event | None:
        """Returns what the file alone knows of an event, on the clock and in the chain of the hooks."""
        if not isinstance(event, ModelCall | Notice):
            return None
        chain = event.chain_id or self._chain
        if isinstance(event, ModelCall):
            if event.call in self._session.given:  # more of its words, or its words in another file
                if not has_spent(event.usage):
                    return None
                return Notice(kind=NoticeKind.USAGE, usage=event.usage, chain_id=chain)
            if event.call is not None:
                self._session.given.add(event.call)
            return ModelCall(usage=event.usage, error=event.error, chain_id=chain)
        if event.kind is NoticeKind.NOTE:
            return Notice(kind=NoticeKind.NOTE, text=event.text, error=event.error, chain_id=chain)
        if event.kind is not NoticeKind.USAGE:
            return None
        return Notice(kind=NoticeKind.USAGE, usage=event.usage, chain_id=chain)

    def _size(self) -> int:
        try:
            return os.stat(self.path).st_size  # noqa: PTH116 - likewise
        except (OSError, ValueError):
            return 0


def last_report(path: str, reader: Callable[[CallsOnce], EventReader]) -> str | None:
    """Returns the last words of the model in a session file; None where a call of a tool came after them."""
    try:
        with open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST))
            lines = file.read(_LAST).split(b"\n")
    except (OSError, ValueError):
        return None
    taken, words = reader(CallsOnce()), None
    events: list[object] = []
    for line in lines:
        try:
            events += taken.read(json_value(line.decode()), "") if line.strip() else ()
        except (TranscriptError, UnicodeDecodeError, RecursionError):
            continue  # the first line begins in its middle
    events += taken.finish()
    for event in events:
        if isinstance(event, ToolCall):
            words = None
        elif isinstance(event, ModelCall) and event.text:
            words = event.text
    return words
