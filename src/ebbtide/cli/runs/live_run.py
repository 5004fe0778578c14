"""A run while it is recorded: bytes in, new verdicts out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ebbtide.checking import new_recorder
from ebbtide.divergence.detectors.near_duplicates import argument_display
from ebbtide.events.event import Event, content, title
from ebbtide.events.transcript import Round
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.verdict import Verdict
from ebbtide.text.redaction import redact, redacted
from ebbtide.traces.live import TraceStream


class LiveRun:
    """Reads and supervises a run that grows.

    Args:
        source: What messages call it.
        options: By what it is judged.
    """

    def __init__(self, source: str, options: RunOptions) -> None:
        self.stream = TraceStream(source=source)
        self.events = 0  #: so far
        self.last: Event | Round | None = None  #: the latest event
        self._over = False
        self._latest = Verdict()  # what was yielded last, as the supervisor gave it
        self._redacts = options.redact
        self._recorder = new_recorder(options)

    @property
    def source(self) -> str:
        """What the input is called where it is shown."""
        source = self.stream.source
        return redact(source) if self._redacts else source

    @property
    def standing(self) -> Verdict:
        """What is to be done now."""
        return self._shown(self._recorder.supervisor.verdict())

    def feed(self, data: bytes) -> Iterator[Verdict]:
        """Take what came in, an event at a time.

        Yields:
            Each verdict that differs from the one before; the events behind it have not been taken yet.
        """
        return self._record(self.stream.feed(data))

    def finish(self) -> Iterator[Verdict]:
        """Take the end of the input; what it yields is that of `feed`.

        Raises:
            TranscriptError: There was nothing in it that could be read.
        """
        self._over = True
        return self._record(self.stream.finish())

    def summary(self) -> RunSummary:
        """What is known of the run so far."""
        form = self.stream.format
        summary = self._recorder.summary(
            self.stream.source,
            form.name if form else "format not known yet",
            advice=self.stream.capture_advice,
        )
        summary = dataclasses.replace(
            summary,
            timed=self.stream.timed,
            faults=(*map(str, self.stream.faults), *summary.faults),
            degraded=summary.degraded + self.stream.fault_count,
            over=self._over,
        )
        return redacted(summary) if self._redacts else summary

    def latest_words(self) -> str:
        """The latest event on one line."""
        last = self.last
        if last is None:
            return ""
        if isinstance(last, Round):
            return f"round {last.number}"
        words = f"{title(last)} {argument_display(content(last))}".strip()
        return f"event {self.events:,}: {redact(words) if self._redacts else words}"

    def _shown(self, verdict: Verdict) -> Verdict:
        return redacted(verdict) if self._redacts else verdict

    def _record(self, events: tuple[Event | Round, ...]) -> Iterator[Verdict]:
        for event in events:
            self.last = event
            self.events += 1
            verdict = self._recorder.record(event)
            if self._is_new(verdict):
                self._latest = verdict
                yield self._shown(verdict)

    def _is_new(self, verdict: Verdict) -> bool:
        if verdict.action is Action.ALLOW and not self._latest.ends:
            return False  # a nudge is over with the next event
        latest = self._latest
        return (verdict.action, verdict.cause, verdict.kind, verdict.loop_id) != (
            latest.action,
            latest.cause,
            latest.kind,
            latest.loop_id,
        )
