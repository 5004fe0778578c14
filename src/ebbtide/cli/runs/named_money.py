"""The money of files that somebody named, by any key, each call once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ebbtide.budget.ledger.call_ledger import CallPlace
from ebbtide.budget.ledger.call_price import settled
from ebbtide.budget.prices import Prices
from ebbtide.cli.result import Exit
from ebbtide.cli.runs.check_format import CheckFormat
from ebbtide.cli.runs.ignoring import ignored_runs
from ebbtide.cli.runs.money import MoneyKey, SessionMoney
from ebbtide.cli.runs.money_screen import print_money
from ebbtide.cli.runs.session_filter import SessionFilter
from ebbtide.cli.runs.trace_files import TraceFiles
from ebbtide.cli.terminal import warn
from ebbtide.errors import TranscriptError
from ebbtide.supervision.run_options import RunOptions
from ebbtide.traces.input.source import STDIN
from ebbtide.traces.money.file_calls import FileCalls
from ebbtide.traces.money.shared_calls import SharedCalls, calls_of
from ebbtide.traces.reading import open_trace
from ebbtide.traces.sessions.session_family import started_by
from ebbtide.traces.sessions.session_origin import AGENT_OF_FORMAT, origin_at, root_session


def show_named_money(
    names: Sequence[str], options: RunOptions, by: MoneyKey, *, form: CheckFormat, everything: bool
) -> Exit:
    """Prints what files cost, by what is wanted; of one alone with the files of what its session started.

    Returns:
        `Exit.BAD_INPUT` where a file that was named is unreadable.

    Raises:
        TranscriptError: None of them can be read.
    """
    named = read_named_money(names, options)
    print_money(named.money, SessionFilter(), by, options, form=form, everything=everything)
    for item in named.unread:
        warn(f"{item.source}: UNREADABLE: {item.what.splitlines()[0]}")
    return Exit.BAD_INPUT if named.unread else Exit.DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedMoney:
    """The money of files that somebody named.

    Args:
        money: Their calls.
        places: The files that were read, and the session of each.
        unread: Files that the command line names, and that cannot be read.
    """

    money: SessionMoney
    places: tuple[CallPlace, ...]
    unread: tuple[TranscriptError, ...]


def read_named_money(names: Sequence[str], options: RunOptions) -> NamedMoney:
    """Reads the money of files; of one alone with the files of what its session started.

    Raises:
        TranscriptError: None of them can be read.
    """
    traces, _ = TraceFiles.of(names).without(ignored_runs())
    found: list[tuple[CallPlace, FileCalls]] = []
    errors: list[TranscriptError] = []
    for path in traces.files if traces.several or not traces.files else _tree_of(traces.files[0]):
        try:
            found.append(_read(path))
        except TranscriptError as error:
            errors.append(error)
    if errors and len(errors) == len(traces.files):
        raise errors[0]
    prices, shared = options.prices or Prices(), SharedCalls.of_calls(found)
    calls = settled(shared.ledger.calls(), shared.stated.by_place(), prices)
    empty = {place.session for place, calls_there in found if not calls_there.calls}
    money = SessionMoney(calls, prices, empty=empty, timezone=options.timezone)
    unread = tuple(item for item in errors if item.source in traces.from_arguments)
    return NamedMoney(money=money, places=tuple(place for place, _ in found), unread=unread)


def _tree_of(path: str) -> list[str]:
    """A file, and those beside it of what its session started."""
    if path == STDIN:
        return [path]
    try:
        form = open_trace(path, is_growing=True).format.name
    except TranscriptError:
        return [path]
    return [path, *(str(file) for file, _ in started_by(Path(path), form))]


def _read(path: str) -> tuple[CallPlace, FileCalls]:
    """The calls of a file, and its place."""
    form = "" if path == STDIN else open_trace(path, is_growing=True).format.name
    found = calls_of(path, form)
    origin = None if path == STDIN else origin_at(path, form)
    agent = AGENT_OF_FORMAT[form].value if form in AGENT_OF_FORMAT else form
    if origin is None:
        return CallPlace(path, found.began, path, path, None, agent), found
    root = root_session(origin, {origin.id: origin})
    return CallPlace(path, found.began, path, root, origin.project, agent), found
