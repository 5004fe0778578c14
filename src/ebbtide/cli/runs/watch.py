"""`ebbtide watch`: the verdict of a run while it is recorded."""

from __future__ import annotations

import dataclasses
import os
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from ebbtide.checking import refuse_nothing
from ebbtide.cli.declaration import FILE, Argument, AsJson, Command, Idle, Option
from ebbtide.cli.result import Exit
from ebbtide.cli.runs.ignoring import print_ignored
from ebbtide.cli.runs.machine_sessions import MachineSessions
from ebbtide.cli.runs.options import with_run_options
from ebbtide.cli.runs.run_screen import ACTION_STYLES, run_screen, verdict_lines
from ebbtide.cli.runs.session_filter import SessionFilter, with_session_filter
from ebbtide.cli.runs.verdict_command import VerdictCommand
from ebbtide.cli.single_file import single_file
from ebbtide.cli.terminal import Line, console, plain, print_json, print_lines, terminal_width, warn
from ebbtide.divergence.near_duplicates import argument_display
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.events.event import Event, content, title
from ebbtide.events.transcript import Round
from ebbtide.report import wording
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.summary.run_title import LONGEST
from ebbtide.supervision.verdict import Verdict
from ebbtide.text.excerpt import one_line
from ebbtide.text.redaction import redact, redacted
from ebbtide.traces.agents.session_database import is_database, is_in_database
from ebbtide.traces.agents.session_storage import only_session
from ebbtide.traces.agents.session_tail import StoredTail, stored_tail
from ebbtide.traces.input.lines import Tail
from ebbtide.traces.input.source import STDIN, is_session_file, source_name
from ebbtide.traces.live import TraceStream

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


_CHANGES = 8  # that the screen keeps
_REASON = 320
_LATEST = 120
_POLL_S = 0.25  # between two looks


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "the watch ended, including by Ctrl-C",
        Exit.INTERRUPTED: "interrupted by Ctrl-C before anything was read",
    },
)
@with_run_options
@with_session_filter
def watch(
    selection: SessionFilter,
    options: RunOptions,
    trace: Annotated[
        str | None,
        Argument(
            metavar="[FILE]", type=FILE, help="A run that is still being recorded, or - for standard input."
        ),
    ] = None,
    on: Annotated[
        tuple[str, str] | None,
        Option(
            "--on",
            metavar="WHEN CMD",
            help="Run CMD when the verdict becomes WHEN: stop, escalate, finalize, nudge, allow or change.",
        ),
    ] = None,
    bell: Annotated[
        bool, Option("--bell/--no-bell", help="Ring the terminal bell when the verdict changes.")
    ] = True,
    until_end: Annotated[bool, Option("--until-end", help="Stop at the current end of the file.")] = False,
    idle: Idle = None,
    as_json: AsJson = False,
) -> None:
    """Watch a run while it is recorded.

    Each change of the verdict is printed. Without a FILE, the newest session of a coding agent on this
    machine is watched.

    Ctrl-C stops the watch and prints a summary.
    """
    command = None if on is None else _verdict_command(on, trace)
    if trace is None:
        newest = MachineSessions.of(selection).newest()
        trace = newest.file.path
        warn(f"watching {newest}")
    else:
        selection.refuse_beside_trace()
    name = single_file(trace, "Name the file in it that grows.")
    if name != STDIN and is_database(name):
        name = only_session(name)
    how = _Watch(name=name, options=options, on=command, bell=bell, until_end=until_end, idle_s=idle)
    if as_json:
        run = _follow(how, _Log(as_json=True))
        print_json({"type": "summary", **run.summary().to_dict()}, indent=None)
        return
    run = _follow_on_screen(how) if sys.stdout.isatty() else _follow(how, _Log())
    summary = run.summary()
    print_lines(run_screen(summary, terminal_width()))
    print_ignored(summary.ignored)


def _verdict_command(on: tuple[str, str], trace: str | None) -> VerdictCommand:
    """Reads what `--on` runs; it takes the two words after it, whatever they are.

    Raises:
        ConfigError: One of them was not meant as a part of it.
    """
    when, command = on
    if command.startswith("-"):
        raise ConfigError(
            f"--on {when}: the command is missing before {command}. Write --on {when} 'COMMAND'"
        )
    if trace is None and Path(command).is_file() and not os.access(command, os.X_OK):
        raise ConfigError(
            f"--on {when}: the command is missing before the file {command}. Write --on {when} 'COMMAND'"
        )
    return VerdictCommand.read(when, command)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watch:
    name: str
    options: RunOptions
    on: VerdictCommand | None
    bell: bool
    until_end: bool
    idle_s: float | None


def _follow_on_screen(how: _Watch) -> LiveRun:
    from rich.live import Live

    terminal = console()
    screen = _Screen(source_name(how.name), terminal, bell=how.bell)
    with Live(console=terminal, get_renderable=screen.drawn, refresh_per_second=4, transient=True):
        return _follow(how, screen)


def _follow(how: _Watch, display: _Log) -> LiveRun:
    """Follow the run; the run as it was at the end.

    What a file holds when the watch begins is the past: it is shown, and only what stands at its end rings
    and runs the command.
    """
    source = source_name(how.name)
    run = LiveRun(source, how.options)
    live = how.until_end or how.name == STDIN

    def tell(verdict: Verdict) -> None:
        display.changed(run, verdict, rings=live)
        if live:
            act(verdict)

    def act(verdict: Verdict) -> None:
        if how.on is not None and how.on.wants(verdict):
            problem = how.on.run(verdict, source, _amounts(run))
            if problem is not None:
                display.note(problem)

    try:
        for data in _pieces(how.name, until_end=how.until_end, idle_s=how.idle_s):
            if data is None:
                display.note(f"{source} was replaced: watching the new run")
                run = LiveRun(source, how.options)
                continue
            for verdict in run.feed(data):
                tell(verdict)
            if data:
                display.moved(run)
            elif not live:
                live = True
                if run.standing.ends:
                    display.rang()
                    act(run.standing)
    except KeyboardInterrupt:
        if not run.events:
            raise
    try:
        for verdict in run.finish():
            tell(verdict)
    except TranscriptError:
        # What came was read as it came; only where that was nothing, the end has something to say.
        if not run.events:
            raise
    refuse_nothing(source, run.events, run.stream.faults)
    return run


def _amounts(run: LiveRun) -> dict[str, Any]:
    """Returns the spending of the run so far, for machines."""
    spending = run.summary().spent
    return {
        "events": spending.events,
        "cost_usd": spending.cost_usd,
        "tokens": spending.tokens.total,
        "seconds": spending.seconds,
    }


def _change(verdict: Verdict) -> Line:
    at = "" if verdict.event is None else f"event {verdict.event:,}"
    line = Line(f"{at:<12} ", "dim")
    line.append(f"{verdict.action.value.upper():<9}", ACTION_STYLES[verdict.action])
    return line.append(plain(verdict.explanation, _REASON))


class _Log:
    """One line a change: in words, or as JSON for machines."""

    def __init__(self, *, as_json: bool = False) -> None:
        self._as_json = as_json

    def changed(self, run: LiveRun, verdict: Verdict, *, rings: bool) -> None:
        """The verdict changed; `rings` says whether just now."""
        if self._as_json:
            where = {"source": run.source, "spent": _amounts(run)}
            print_json({"type": "verdict", **verdict.to_dict(), **where}, indent=None)
        else:
            print_lines([_change(verdict)])
        sys.stdout.flush()

    def rang(self) -> None:
        """The verdict at the start of the watch is reported; it has its line already."""

    def moved(self, run: LiveRun) -> None:
        """Events came in; a log shows changes only."""

    def note(self, text: str) -> None:
        """Show a message."""
        warn(text)


@dataclass
class _Screen(_Log):
    """The run on a terminal, redrawn as it moves."""

    source: str
    terminal: Console
    bell: bool
    run: LiveRun | None = None
    changes: deque[Line] = field(default_factory=lambda: deque(maxlen=_CHANGES))

    def changed(self, run: LiveRun, verdict: Verdict, *, rings: bool) -> None:
        self.run = run
        self.changes.append(_change(verdict))
        if rings:
            self.rang()

    def rang(self) -> None:
        if self.bell:
            self.terminal.bell()

    def moved(self, run: LiveRun) -> None:
        self.run = run

    def note(self, text: str) -> None:
        self.changes.append(Line.safe(text, "yellow"))

    def drawn(self) -> RenderableType:
        from rich.console import Group

        return Group(*(line.to_rich() for line in self._lines()))

    def _lines(self) -> list[Line]:
        if self.run is None:
            return [Line.safe(f"{self.source}: no data yet. Ctrl-C stops.", "dim")]
        summary = self.run.summary()
        now = summary.latest
        spending = summary.spent
        amounts = (
            wording.amounts(spending.cost_usd, spending.tokens.total, spending.seconds) or "nothing known"
        )
        lines = [*verdict_lines(summary)[:2], Line()]
        lines.append(Line("now       ", "dim").append(now.action.value, ACTION_STYLES[now.action]))
        lines.append(Line("spent     ", "dim").append(amounts or "nothing known"))
        lines.append(Line("last      ", "dim").append(plain(self.run.latest_words(), _LATEST)))
        if summary.degraded:
            lines.append(Line(f"{summary.degraded:,} lines not read in full", "yellow"))
        if self.changes:
            lines += [Line(), *self.changes]
        return [*lines, Line(), Line("Ctrl-C stops the watch and prints a summary.", "dim")]


def _pieces(name: str, *, until_end: bool, idle_s: float | None) -> Iterator[bytes | None]:
    """Yields the input as it comes: empty at every look that found nothing, None where a new run begins.

    A new run begins where the file was emptied, rewritten or replaced.

    Args:
        name: The file, a session in a database or in many files, or ``-`` for standard input, whose end is
            the end.
        until_end: End where a file ends now, and do not wait for more.
        idle_s: End when nothing came for so many seconds; None waits for ever.

    Raises:
        TranscriptError: At the start the file cannot be read.
    """
    if name == STDIN:
        looks = _stdin_looks()
    elif is_in_database(name) or is_session_file(name):
        looks = _looks(stored_tail(name))
    else:
        looks = _looks(Tail(name))
    last = time.monotonic()
    with closing(looks):
        for data in looks:
            yield data
            if data != b"":
                last = time.monotonic()
            elif (until_end and name != STDIN) or (idle_s is not None and time.monotonic() - last >= idle_s):
                return


def _looks(tail: Tail | StoredTail) -> Generator[bytes | None, None, None]:
    try:
        while True:
            data = tail.look()
            yield data
            if data == b"":
                time.sleep(_POLL_S)
    finally:
        if isinstance(tail, Tail):
            tail.close()


def _stdin_looks() -> Generator[bytes | None, None, None]:
    chunks: queue.Queue[bytes] = queue.Queue(maxsize=16)
    descriptor = sys.stdin.fileno()

    def read_chunks() -> None:
        while True:
            data = os.read(descriptor, 1 << 16)
            chunks.put(data)
            if not data:
                return

    # A thread, since not every system can wait for a pipe with a time limit.
    threading.Thread(target=read_chunks, daemon=True).start()
    while True:
        try:
            data = chunks.get(timeout=_POLL_S)
        except queue.Empty:
            yield b""
            continue
        if not data:
            return
        yield data


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
        self._recorder = RunRecorder(options)

    @property
    def source(self) -> str:
        """The name of the input where it is shown."""
        source = self.stream.source
        return redact(source) if self._redacts else source

    @property
    def standing(self) -> Verdict:
        """The present verdict."""
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
        """Summarizes the run so far."""
        form = self.stream.format
        summary = self._recorder.summary(
            self.stream.source,
            form.name if form else "format not known yet",
            advice=self.stream.capture_advice,
            over=self._over,
        )
        summary = dataclasses.replace(
            summary,
            title=one_line(self.stream.title, LONGEST) or summary.title,
            project=self.stream.project,
            timed=self.stream.timed,
            faults=(*map(str, self.stream.faults), *summary.faults),
            degraded=summary.degraded + self.stream.fault_count,
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
