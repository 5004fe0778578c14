"""Checks of recorded runs: the functions behind `ebbtide check`."""

from __future__ import annotations

import dataclasses
import os
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ebbtide.budget.bill.tree import RunNode, RunRole
from ebbtide.budget.ledger.call_price import units_of
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import Tally, dollars
from ebbtide.errors import EbbtideError, TranscriptError, expect
from ebbtide.events.event import Event, Notice
from ebbtide.events.model_call_id import CallId
from ebbtide.events.transcript import Round
from ebbtide.processes import LostProcessError, results, worthwhile
from ebbtide.supervision.run_options import DEFAULTS, RunOptions
from ebbtide.supervision.summary.heard_rounds import HeardRounds, HearingRecorder
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.summary.run_title import LONGEST
from ebbtide.supervision.summary.run_tree import with_trees
from ebbtide.supervision.summary.spending import spending_of
from ebbtide.text.excerpt import one_line
from ebbtide.text.redaction import redacted
from ebbtide.traces.input.source import STDIN
from ebbtide.traces.reading import Trace, open_trace
from ebbtide.traces.sessions.session_family import started_by
from ebbtide.traces.sessions.session_origin import AGENT_OF_FORMAT, SessionOrigin, origin_at

if TYPE_CHECKING:
    from ebbtide.budget.ledger.inherited_calls import InheritedCalls
    from ebbtide.traces.money.shared_calls import SharedCalls

_EVERY = 1_000  # events between two reports of progress
_FAULTS = 20
_WORTH_A_PROCESS = 8 << 20  # bytes of traces that take longer to read than a process takes to start


def check(
    path: str | os.PathLike[str],
    options: RunOptions = DEFAULTS,
    *,
    progress: Callable[[int], object] | None = None,
    is_named: bool = True,
    is_growing: bool = False,
    inherited: InheritedCalls | None = None,
    is_alone: bool = True,
) -> RunSummary:
    """Returns the summary of the run in a file, in bounded memory.

    Of a session of a coding agent the bill has a tree where it started others: their files are looked for
    beside its own, and a call that stands in both is theirs.

    Args:
        path: A trace of any known format, compressed or not; ``-`` for standard input.
        progress: Called with the number of events so far, every thousand and at the end.
        is_named: Whether somebody named the file; plain text that a search came upon has to be a conversation
            beyond doubt.
        is_growing: Whether it may be written at this moment: a broken last line is no fault then.
        inherited: Calls that another run owns: they cost nothing here, and are summed apart.
        is_alone: Whether nobody else looks for what it started, and for what it inherited.

    Raises:
        TranscriptError: It cannot be read, nothing in it can be, or it is in no known format.

    >>> import json, tempfile
    >>> call = {"kind": "tool", "name": "ls", "args": {}, "result": "a.txt"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.json")
    ...     _ = path.write_text(json.dumps([call] * 6))
    ...     summary = check(path)
    >>> summary.headline.value, summary.findings[0].sentence
    ('STUCK', 'ls 6 times in a row, same arguments, same result')
    """
    trace = open_trace(path, is_named=is_named, is_growing=is_growing)
    form = trace.format.name
    origin = None if os.fspath(path) == STDIN else origin_at(path, form)
    if origin is None:
        return check_trace(trace, options, progress=progress, inherited=inherited)
    family = started_by(Path(path), form) if is_alone else []
    shared = None
    if family or (is_alone and origin.parent is not None):
        shared = _shared_calls([Path(path), *(file for file, _ in family)])
        inherited = shared.inherited.get(str(Path(path)))
    summary = check_trace(trace, options, progress=progress, inherited=inherited)
    summary = placed(summary, origin, form)
    if shared is None or not family:
        return summary if not is_alone else with_trees([summary])[0]
    nodes = _nodes_of(family, form, shared, options.prices)
    return with_trees([summary], nodes)[0]


def _shared_calls(paths: Sequence[Path]) -> SharedCalls:
    from ebbtide.traces.money.shared_calls import SharedCalls  # which one file alone does not need

    return SharedCalls.of(paths)


def placed(summary: RunSummary, origin: SessionOrigin, form: str) -> RunSummary:
    """Returns the summary with the place of its session among others.

    Args:
        origin: Where its session comes from.
        form: The name of its format.
    """
    agent = AGENT_OF_FORMAT[form].value
    return dataclasses.replace(
        summary,
        id=f"{agent}:{origin.id}",
        parent=None if origin.parent is None else f"{agent}:{origin.parent}",
        role=origin.role,
        name=origin.name,
    )


def _nodes_of(
    family: Sequence[tuple[Path, SessionOrigin]], form: str, shared: SharedCalls, prices: Prices | None
) -> list[RunNode]:
    """Returns what each file took of its own, as far as its tree needs it."""
    agent = AGENT_OF_FORMAT[form].value
    nodes = {
        str(path): RunNode(
            key=str(path),
            id=f"{agent}:{origin.id}",
            parent=f"{agent}:{origin.parent}",
            role=RunRole(origin.role),
            name=origin.name,
        )
        for path, origin in family
    }
    for call in shared.ledger.calls():
        node = nodes.get(call.owner.path)
        if node is None:
            continue
        cost = units_of(call, prices)
        node.tokens += call.usage.tokens or 0
        if cost is not None:
            node.cost = cost + (node.cost or 0)
        elif call.usage.has_tokens:
            node.is_least = True
    return list(nodes.values())


def check_trace(
    trace: Trace,
    options: RunOptions = DEFAULTS,
    *,
    progress: Callable[[int], object] | None = None,
    inherited: InheritedCalls | None = None,
) -> RunSummary:
    """Returns the summary of a run whose trace is open; the trace is read to its end.

    Args:
        trace: As `open_trace` and `Trace.of` give it.

    Raises:
        TranscriptError: Nothing in it can be read.
    """
    recorder = RunRecorder(options)
    share = None if inherited is None else RunShare(inherited, options.prices)
    _feed(recorder, trace if share is None else map(share.own, trace), progress)
    summary = _summary_of(recorder, trace)
    summary = summary if share is None else share.of(summary)
    return redacted(summary) if options.redact else summary


def hear(
    trace: Trace, options: RunOptions = DEFAULTS, *, items: Iterable[Event | Round] | None = None
) -> HeardRounds:
    """Checks a run whose trace is open, and returns its rounds with its summary.

    Args:
        trace: As for `check_trace`.
        items: Its events, where it was read already.

    Raises:
        TranscriptError: Nothing in it can be read.
    """
    recorder = HearingRecorder(options)
    _feed(recorder, trace if items is None else items, None)
    summary = _summary_of(recorder, trace)
    return recorder.heard(redacted(summary) if options.redact else summary)


def _summary_of(recorder: RunRecorder, trace: Trace) -> RunSummary:
    """Returns what a run came to whose trace was read to its end."""
    refuse_nothing(trace.source, trace.events, trace.faults)
    summary = recorder.summary(trace.source, trace.format.name, advice=trace.capture_advice)
    faults = (*map(str, trace.faults), *summary.faults)[:_FAULTS]
    return dataclasses.replace(
        summary,
        title=one_line(trace.title, LONGEST) or summary.title,
        project=trace.project,
        timed=trace.timed,
        faults=faults,
        degraded=summary.degraded + trace.fault_count,
    )


def refuse_nothing(source: str, events: int, faults: Sequence[TranscriptError]) -> None:
    """Refuse a run of which no event could be read: nothing is known of it, not even that it is healthy.

    Args:
        source: What messages call it.
        faults: What could not be read.

    Raises:
        TranscriptError: There was no event; with the first fault, where there is one.
    """
    if events:
        return
    if not faults:
        raise TranscriptError("there are no events", source=source, no_trace=True)
    what = f"no event could be read: {faults[0].what}"
    raise TranscriptError(what, source=source, line=faults[0].line, path=faults[0].path, hint=faults[0].hint)


def check_events(
    events: Iterable[Event | Round],
    options: RunOptions = DEFAULTS,
    *,
    source: str = "<events>",
    form: str = "events",
    advice: str = "",
    over: bool = True,
    progress: Callable[[int], object] | None = None,
    inherited: InheritedCalls | None = None,
) -> RunSummary:
    """Returns the summary of a run whose events are at hand.

    Args:
        events: Its events, in order.
        source: What the summary calls the run.
        form: What the summary calls the format of the events.
        advice: What to switch on where the run holds too little; empty where that is not known.
        over: Whether nothing more comes.

    >>> from ebbtide.events.event import ToolCall
    >>> summary = check_events(ToolCall(name="ls", args={}, result="a.txt") for _ in range(6))
    >>> summary.verdict.action.value, summary.saving.verdict.event, summary.saving.after.events
    ('stop', 4, 2)
    >>> summary.reason
    'ls 6 times in a row, same arguments, same result (calls 1-6).'
    """
    expect("options", options, RunOptions)
    recorder = RunRecorder(options)
    share = None if inherited is None else RunShare(inherited, options.prices)
    _feed(recorder, events if share is None else map(share.own, events), progress)
    summary = recorder.summary(source, form, advice=advice, over=over)
    summary = summary if share is None else share.of(summary)
    return redacted(summary) if options.redact else summary


def check_many(
    paths: Sequence[str | os.PathLike[str]],
    options: RunOptions = DEFAULTS,
    *,
    jobs: int | None = None,
    from_arguments: Collection[str] | None = None,
    is_growing: bool = False,
    inherited: Mapping[str, InheritedCalls] | None = None,
) -> Iterator[tuple[Path, RunSummary | EbbtideError]]:
    """Yields the summary of the run in each file as soon as it is known.

    Args:
        paths: The files. The largest are begun with, so that no core waits for one at the end; with
            `inherited` they are worked on in their order.
        jobs: Processes; None takes one a core where the files are worth it, 1 works in this one. So do
            options that cannot be sent to another process.
        from_arguments: Those of the paths that somebody named, as for `check`; None: all.
        inherited: By path, the calls in them that other files own, where that is known; None reads the files
            for it.

    Yields:
        A file and its summary, or why it cannot be read.
    """
    files = list(map(Path, paths))
    if inherited is None:
        files.sort(key=_size, reverse=True)
    searched = (
        frozenset()
        if from_arguments is None
        else {Path(path) for path in paths} - {Path(path) for path in from_arguments}
    )
    shares: Mapping[str, InheritedCalls] = inherited or {}
    if inherited is None and len(files) > 1:
        shares = _shared_calls(files).inherited
    jobs = min(jobs or _processes(files), len(files))
    if jobs > 1 and not _can_be_sent(options):
        jobs = 1
    how = {"is_growing": is_growing, "is_alone": inherited is None and len(files) == 1}
    pieces = (
        (path, options, shares.get(str(path)), {**how, "is_named": path not in searched}) for path in files
    )
    for (path, *_), result in results(_checked, pieces, jobs=jobs):
        if isinstance(result, LostProcessError):
            yield path, EbbtideError(f"{path}: {result}")
        else:
            yield path, result


class RunShare:
    """Parts a run into what is its own and what it inherited: calls that another file owns."""

    def __init__(self, inherited: InheritedCalls, prices: Prices | None) -> None:
        self._inherited = inherited
        self._tally = Tally(prices)
        self._calls: set[CallId] = set()  # inherited ones that have been seen

    def own(self, event: Event | Round) -> Event | Round:
        """Returns the event, without its usage where another run owns that call."""
        if isinstance(event, Notice) and event.stated is not None and self._inherited.is_stated_elsewhere:
            return dataclasses.replace(event, stated=None)
        if not isinstance(event, Event) or event.call is None or event.usage is None:
            return event
        is_growth = isinstance(event, Notice) and event.call in self._calls
        if not is_growth and not self._inherited.has(event):
            return event
        self._calls.add(event.call)
        self._tally.add(event)
        return dataclasses.replace(event, usage=None)

    def of(self, summary: RunSummary) -> RunSummary:
        """Returns the summary with what the run inherited."""
        inherited = spending_of([self._tally])
        if not inherited.events:
            return summary
        calls = summary.spent.llm_calls - inherited.llm_calls
        spent = dataclasses.replace(summary.spent, llm_calls=calls)
        if not calls and spent.cost_usd is None and not spent.tokens.total:
            spent = dataclasses.replace(spent, cost_usd=0.0)  # no call is its own
        bill = summary.bill
        owner = self._inherited.owner
        whose = None if owner is None else Path(owner).name
        whose = "a session that is not here" if self._inherited.is_absent else whose
        if inherited.cost_usd is not None and whose is not None:
            began = f"It began from {whose}, where that had cost"
            sentence = f"{bill.sentence} {began} {dollars(inherited.cost_usd)}.".lstrip()
            bill = dataclasses.replace(bill, sentence=sentence)
        return dataclasses.replace(summary, spent=spent, bill=bill, inherited=inherited, began_from=owner)


def _checked(
    path: Path, options: RunOptions, inherited: InheritedCalls | None, how: Mapping[str, bool]
) -> RunSummary | EbbtideError:
    try:
        return check(
            path,
            options,
            inherited=inherited,
            is_named=how["is_named"],
            is_growing=how["is_growing"],
            is_alone=how["is_alone"],
        )
    except EbbtideError as error:
        return error
    except Exception as error:  # noqa: BLE001 - one file, or a fault in one reader, must not hide the others
        return TranscriptError(f"cannot be read: {type(error).__name__}: {error}", source=str(path))


def _can_be_sent(options: RunOptions) -> bool:
    try:
        pickle.dumps(options)
    except (TypeError, AttributeError, pickle.PicklingError):
        return False
    return True


def _processes(files: Sequence[Path]) -> int:
    """Returns the number of processes that are worth their start."""
    # Sessions in a database have no size of their own.
    databases = {path.parent for path in files if path.parent.suffix == ".db"}
    return worthwhile(sum(map(_size, (*files, *databases))), _WORTH_A_PROCESS)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _feed(
    recorder: RunRecorder, events: Iterable[Event | Round], progress: Callable[[int], object] | None
) -> None:
    record = recorder.record
    if progress is None:
        for event in events:
            record(event)
        return
    number = 0
    for number, event in enumerate(events, start=1):
        record(event)
        if number % _EVERY == 0:
            progress(number)
    progress(number)
