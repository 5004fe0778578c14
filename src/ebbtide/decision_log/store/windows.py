"""The windows of a stream that were read lately: valid for as long as nobody else wrote to the stream.

Two decisions in a row of one session are compared with nearly the same earlier ones. The head of the stream,
which every writer reads, tells whether that is so still.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.decisions.repeats.duplicates import Earlier

_MOST = 8  # windows of one stream
_LONGEST = 2000  # characters of a text that is kept in memory
_STARTED = frozenset({Status.OPENED, Status.KEPT})
_SETTLED = frozenset({Status.KEPT})


class _Window:
    __slots__ = ("rows", "since")

    def __init__(self, since: float) -> None:
        self.since = since
        self.rows: dict[str, Earlier] = {}


class Windows:
    """The latest decisions of one stream, by session, opened and final ones apart."""

    def __init__(self) -> None:
        self._windows: dict[tuple[str, bool], _Window] = {}

    def between(self, session: str, low: float, high: float, *, final: bool) -> list[Earlier] | None:
        """The decisions of those times in the order in which they came; None where that is not known."""
        window = self._windows.get((session, final))
        if window is None or low < window.since:
            return None
        rows = [row for row in window.rows.values() if low <= row.ts <= high]
        if len(window.rows) > 2 * len(rows) + 16:  # most of it is over
            window.since = low
            window.rows = {row.id: row for row in window.rows.values() if row.ts >= low}
        return rows

    def keep(self, session: str, low: float, rows: Iterable[Earlier], *, final: bool) -> None:
        """Remember what was read: every decision since a time, oldest first."""
        window = _Window(low)
        for row in rows:
            if len(row.text) > _LONGEST:
                return
            window.rows[row.id] = row
        self._windows[session, final] = window
        if len(self._windows) > _MOST:
            del self._windows[next(iter(self._windows))]

    def note(self, decision: Decision) -> None:
        """A decision is new, or stands elsewhere now."""
        session, text = decision.scope.session or "", decision.candidate.description
        is_start = decision.question is not None and decision.status in _STARTED
        self._put(session, decision, decision.question if is_start else None, decision.opened_at, final=False)
        is_final = bool(text) and decision.status in _SETTLED
        self._put(session, decision, text if is_final else None, decision.settled_at, final=True)

    def clear(self) -> None:
        """Forget everything."""
        self._windows.clear()

    def _put(
        self, session: str, decision: Decision, text: str | None, ts: float | None, *, final: bool
    ) -> None:
        window = self._windows.get((session, final))
        if window is None:
            return
        if text is None or ts is None:
            window.rows.pop(decision.id, None)
        elif len(text) > _LONGEST:
            del self._windows[session, final]
        elif decision.id not in window.rows:
            window.rows[decision.id] = Earlier(id=decision.id, text=text, ts=ts)


class StreamHead:
    """A stream as its last writer in this process left it."""

    __slots__ = ("changed", "hash", "seq", "ts", "windows")

    def __init__(self, seq: int, head: str, ts: float) -> None:
        self.seq = seq
        self.hash = head
        self.ts = ts
        self.changed = False
        self.windows = Windows()


#: The streams that were written to lately, by tenant and agent.
Streams = OrderedDict[tuple[str, str], StreamHead]
