"""Exports of many runs, made into the events of each: in order, once, and after a bounded wait."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple

from ebbtide.bounded import Bounded
from ebbtide.events.event import Event, ModelCall, ModelPart, ToolCall
from ebbtide.service.otlp.export import Export
from ebbtide.traces.content_capture import capture_setting
from ebbtide.traces.telemetry.genai_names import PREFIXES
from ebbtide.traces.telemetry.otlp import OtlpReader
from ebbtide.traces.telemetry.span import SpanKind
from ebbtide.traces.telemetry.span_attributes import RawSpan, SpanWriter, kind_of

WAIT_S: Final = 10.0  #: longer than exporters wait before they send a batch, 5 s by default
MOST_BYTES: Final = 64 << 20  #: of exports that wait
_MOST: Final = 10_000  # runs, and traces, that are remembered
_MOST_WRITERS: Final = 32
_MOST_SCOPES: Final = 64
_LONGEST_ID: Final = 200
_UNFIT: Final = re.compile(r"[\x00-\x1f\x7f/]")  # for the path of a URL
_SUMS: Final = frozenset((SpanKind.AGENT, SpanKind.OTHER))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNews:
    """News of a run.

    Args:
        run_id: The run: its conversation, its session, or its trace.
        service: The program that runs it; None if it is not reported.
        agent: The agent that works; likewise.
        note: What to know before judging the run; empty where there is nothing.
    """

    run_id: str
    events: tuple[Event, ...]
    service: str | None = None
    agent: str | None = None
    note: str = ""
    has_ended: bool = False


class _Ending(NamedTuple):
    trace: str
    end: float


@dataclass(frozen=True, slots=True)
class _Arrival:
    """An export that waits."""

    at: float
    number: int  # of its last span
    size: int
    mark: int
    endings: tuple[_Ending, ...]
    roots: tuple[str, ...]  # traces whose outermost span is in it
    late: tuple[str, ...]  # traces, a span each, of which later spans were looked at before


class _RunNotes:
    """Counts what was not recorded of a run, and what came late.

    Attributes:
        service: The program that runs it; None if it is not reported.
        late: Spans that came after what should be behind them.
    """

    def __init__(self) -> None:
        self.service: str | None = None
        self.late = 0
        self._scopes: set[str] = set()
        self._tool_calls = self._without_arguments = 0
        self._model_calls = self._without_text = 0

    def take(self, event: Event) -> None:
        """One more event of the run."""
        if isinstance(event, ToolCall):
            self._tool_calls += 1
            self._without_arguments += event.args is None
        elif isinstance(event, ModelCall) and event.part is ModelPart.WHOLE and not event.error:
            self._model_calls += 1
            self._without_text += event.text is None

    def take_writer(self, writer: SpanWriter) -> None:
        """Who wrote some of the spans."""
        self.service = self.service or writer.service
        if writer.scope is not None and len(self._scopes) < _MOST_SCOPES:
            self._scopes.add(writer.scope)

    @property
    def lacks_content(self) -> bool:
        """True if the arguments of most calls are missing; without calls, the words of most answers."""
        if self._tool_calls:
            return 2 * self._without_arguments > self._tool_calls
        return 2 * self._without_text > self._model_calls

    def text(self) -> str:
        """The note in sentences; empty if there is nothing to know."""
        sentences = []
        if self.lacks_content:
            setting = capture_setting("otlp", self._scopes).rstrip(",")
            sentences.append(f"Content capture is off: loops cannot be judged. {setting}.")
        if self.late:
            spans = "1 span" if self.late == 1 else f"{self.late:,} spans"
            sentences.append(f"{spans} came late, and counted behind later ones.")
        return " ".join(sentences)


class SpanIntake:
    """Takes exports as they come. Memory is bounded; no clock inside.

    A span is looked at when it has waited, together with all of its trace that began before it: spans come
    when they end, so inner ones before the ones around them. What comes after that counts as well, behind
    what it should be before, and the run says so.

    Args:
        wait_s: Seconds that a span waits for others.
        most_bytes: Of exports that wait; when there are more, the first need not wait any longer.
        is_known: Whether a run has events from before this was made.

    Attributes:
        mark: Of the latest export that has waited.
    """

    def __init__(
        self,
        *,
        wait_s: float = WAIT_S,
        most_bytes: int = MOST_BYTES,
        is_known: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.mark = 0
        self._wait_s = wait_s
        self._most_bytes = most_bytes
        self._is_known = is_known
        self._own: Bounded[str, None] = Bounded(_MOST)  # runs that this has given events of
        self._reader = OtlpReader(resumes=self._is_foreign)
        self._arrivals: deque[_Arrival] = deque()
        self._bytes = 0
        self._early: list[Event] = []  # of spans that could not wait: too many do
        # Of traces whose run is not known yet.
        self._writers: Bounded[str, set[SpanWriter]] = Bounded(_MOST)
        self._settled: Bounded[str, float] = Bounded(_MOST)  # the latest end in a trace
        self._notes: Bounded[str, _RunNotes] = Bounded(_MOST)

    @property
    def waiting(self) -> int:
        """Exports that wait."""
        return len(self._arrivals)

    @property
    def duplicates(self) -> int:
        """Spans that came again, as after an error of the network."""
        return self._reader.duplicates

    def take(self, export: Export, now: float, *, size: int, mark: int = 0) -> None:
        """One more export.

        Args:
            now: Seconds on any clock that does not go back.
            mark: What the caller calls it; marks grow.
        """
        endings, roots, late = [], [], []
        for raw in export.spans:
            if any(name.startswith(PREFIXES) for name in raw.attributes):
                self._note_writer(raw)
                if raw.end is not None:
                    endings.append(_Ending(raw.trace, raw.end))
                    if raw.end < self._settled.get(raw.trace, raw.end):
                        late.append(raw.trace)
            if raw.parent is None and kind_of(raw.attributes) in _SUMS:
                roots.append(raw.trace)
        self._early += self._reader.take(export.spans, export.logs)
        self._arrivals.append(
            _Arrival(now, self._reader.number, size, mark, tuple(endings), tuple(roots), tuple(late))
        )
        self._bytes += size

    def settle(self, now: float) -> list[RunNews]:
        """Returns the news of runs whose spans have waited long enough."""
        due: list[_Arrival] = []
        while self._arrivals and (
            self._arrivals[0].at + self._wait_s <= now or self._bytes > self._most_bytes
        ):
            due.append(self._arrivals.popleft())
            self._bytes -= due[-1].size
        events, self._early = self._early, []
        if due:
            self.mark = due[-1].mark
            events += self._reader.settle(due[-1].number)
        return self._by_run(events, due) if events or due else []

    def finish(self) -> list[RunNews]:
        """All that still waits."""
        due = list(self._arrivals)
        self._arrivals.clear()
        self._bytes = 0
        self.mark = due[-1].mark if due else self.mark
        events, self._early = self._early, []
        return self._by_run([*events, *self._reader.finish()], due)

    def _by_run(self, events: Iterable[Event], due: list[_Arrival]) -> list[RunNews]:
        runs: dict[str, list[Event]] = {}
        for event in events:
            runs.setdefault(run_id_of(self._reader.base(event.chain_id)), []).append(event)
        for run_id in runs:
            self._own[run_id] = None
        self._note_writers()
        for arrival in due:
            for trace in arrival.late:
                self._notes_of(self._run(trace)).late += 1
            for trace, end in arrival.endings:
                self._settled[trace] = max(end, self._settled.get(trace, end))
        ended = {self._run(trace) for arrival in due for trace in arrival.roots} & self._own.keys()
        return [self._news(run_id, runs.get(run_id, ()), ended) for run_id in dict.fromkeys((*runs, *ended))]

    def _news(self, run_id: str, events: Iterable[Event], ended: set[str]) -> RunNews:
        notes = self._notes_of(run_id)
        events = tuple(events)
        for event in events:
            notes.take(event)
        return RunNews(
            run_id=run_id,
            events=events,
            service=notes.service,
            agent=next((event.agent for event in events if event.agent), None),
            note=notes.text(),
            has_ended=run_id in ended,
        )

    def _note_writer(self, raw: RawSpan) -> None:
        writers = self._writers.get(raw.trace)
        if writers is None:
            writers = self._writers[raw.trace] = set()
        if len(writers) < _MOST_WRITERS:
            writers.add(raw.writer)

    def _note_writers(self) -> None:
        """Notes who wrote the spans of runs that are known by now."""
        for trace in [trace for trace in self._writers if self._reader.conversation(trace) is not None]:
            notes = self._notes_of(self._run(trace))
            for writer in self._writers.pop(trace):
                notes.take_writer(writer)

    def _run(self, trace: str) -> str:
        return run_id_of(self._reader.conversation(trace) or trace)

    def _notes_of(self, run_id: str) -> _RunNotes:
        notes = self._notes.get(run_id)
        if notes is None:
            notes = self._notes[run_id] = _RunNotes()
        return notes

    def _is_foreign(self, chain: str) -> bool:
        run_id = run_id_of(chain)
        return run_id not in self._own and self._is_known(run_id)


def run_id_of(name: str) -> str:
    """The id of the run that a conversation, a session or a trace is: fit for a path, 200 characters at most.

    >>> run_id_of("4bf92f35"), run_id_of("team/7")
    ('4bf92f35', 'team_7-4362baad')
    """
    plain = _UNFIT.sub("_", name)
    if plain == name and len(name) <= _LONGEST_ID:
        return name
    digest = blake2b(name.encode(errors="replace"), digest_size=4).hexdigest()
    return f"{plain[: _LONGEST_ID - len(digest) - 1]}-{digest}"
