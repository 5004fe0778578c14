"""Exports that come to a service: kept before they are acknowledged, then watched as runs."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Final

from ebbtide.database.session import Session
from ebbtide.errors import EbbtideError, StoreError
from ebbtide.service.otlp.export import Export, PackedExport, SignalKind
from ebbtide.service.otlp.span_intake import WAIT_S, RunNews, SpanIntake
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_event import RunEvent, keepable_events
from ebbtide.service.runs.run_origin import RunOrigin, RunSource

_log = logging.getLogger(__name__)
_MOST_RUNS: Final = 100  # that are given their events at once, while other exports wait
_NEW: Final = "INSERT INTO exports (kind, media, encoding, body) VALUES (?, ?, ?, ?) RETURNING number"
_ALL: Final = "SELECT number, kind, media, encoding, body FROM exports ORDER BY number"


class SpanReceiver:
    """Takes exports, gives their events to the runs. For one thread at a time, but `keep`.

    Args:
        wait_s: As for `SpanIntake`.
    """

    def __init__(self, runs: LiveRuns, *, wait_s: float = WAIT_S) -> None:
        self._runs = runs
        self._forgotten = 0  # the latest mark up to which nothing is kept any more
        self._intake = SpanIntake(wait_s=wait_s, is_known=runs.database.knows)
        self._news: list[RunNews] = []  # what is not on disk yet
        self._has_more = False

    def keep(self, export: PackedExport) -> int:
        """Writes an export to the disk; returns its mark, which grows. It may be called beside the others.

        Raises:
            StoreError: It cannot be written: nothing of it was taken.
        """
        values = (export.kind.value, export.media, export.encoding, export.body)

        def write(session: Session) -> int:
            mark: int = session.rows(_NEW, values)[0][0]
            return mark

        return self._runs.database.write(write)

    def kept(self) -> Iterator[tuple[int, PackedExport]]:
        """Yields the exports whose events may not be on disk yet, with their marks."""
        for mark, kind, media, encoding, body in self._runs.database.read(_ALL):
            yield mark, PackedExport(kind=SignalKind(kind), media=media, encoding=encoding, body=body)

    def forget(self, mark: int) -> None:
        """Deletes the exports up to a mark: their events are on disk."""
        if mark > self._forgotten:
            self._runs.database.write(
                lambda session: session.run("DELETE FROM exports WHERE number <= ?", (mark,))
            )
            self._forgotten = mark

    def take(self, export: Export, size: int, mark: int) -> None:
        """Takes an export that was kept; exports come in the order of their marks."""
        self._intake.take(export, time.monotonic(), size=size, mark=mark)

    def resume(self) -> None:
        """Take what was acknowledged before the service ended in another way than it should."""
        for mark, packed in self.kept():
            try:
                export, size = packed.read()
            except EbbtideError as error:
                _log.error("export %d cannot be read again: %s", mark, error)
            else:
                self.take(export, size, mark)

    @property
    def has_more(self) -> bool:
        """True if `settle` has left something that it could give: others have their turn between."""
        return self._has_more

    def settle(self) -> None:
        """Give some runs what has waited long enough.

        Raises:
            StoreError: Some of it cannot be written now; the next call tries again.
        """
        self._news += self._intake.settle(time.monotonic())
        self._give(_MOST_RUNS)

    def finish(self) -> None:
        """Give the runs all that waits.

        Raises:
            StoreError: Some of it cannot be written.
        """
        self._news += self._intake.finish()
        self._give(len(self._news))

    def _give(self, most: int) -> None:
        entries = [(news, *self._kept(news)) for news in self._news[:most]]
        self._news, fault = self._news[most:], None
        self._has_more = False
        for news, events, future in entries:
            try:
                self._watch(news.run_id, events, future.result())
                self._runs.database.annotate(news.run_id, news.note)
            except StoreError as error:
                # What is on disk is not written again.
                self._news.append(replace(news, events=()) if future.exception() is None else news)
                fault = error
            else:
                if news.has_ended:
                    self._runs.end(news.run_id)
        if fault is not None:
            raise fault
        self._has_more = bool(self._news)
        if not self._has_more:
            self.forget(self._intake.mark)

    def _kept(self, news: RunNews) -> tuple[list[RunEvent], Future[list[int]]]:
        """The events of a run, on their way to the disk."""
        events = keepable_events(news.run_id, news.events, self._runs.prices, time.time())
        future: Future[list[int]] = Future()
        if not events:
            future.set_result([])
            return [], future
        try:
            origin = RunOrigin(project=news.service, agent=news.agent, source=RunSource.SPANS)
            return events, self._runs.append(news.run_id, events, origin)
        except StoreError as error:
            future.set_exception(error)
            return events, future

    def _watch(self, run_id: str, events: list[RunEvent], places: list[int]) -> None:
        for item, place in zip(events, places, strict=True):
            self._runs.take(run_id, item.event, place)
        if events:
            self._runs.note(run_id)
