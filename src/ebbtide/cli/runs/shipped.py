"""`ebbtide check --repo` and `--git`: the commits of sessions, and the sessions beside the code."""

from __future__ import annotations

import atexit
import dataclasses
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ebbtide import __version__
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import dollars, usd
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.runs.checking import check_files, write_page
from ebbtide.cli.runs.ignoring import ignored_runs
from ebbtide.cli.runs.machine_sessions import MachineSessions, SessionPart
from ebbtide.cli.runs.money import SessionMoney, TreeMoney
from ebbtide.cli.runs.money_screen import UNKNOWN, cost_cell, sums_table
from ebbtide.cli.runs.named_money import read_named_money
from ebbtide.cli.runs.session_filter import SessionFilter
from ebbtide.cli.runs.trace_files import TraceFiles
from ebbtide.cli.terminal import Line, short_path, warn
from ebbtide.codec import to_wire
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.report.plurals import count
from ebbtide.shipped.checkpoints import write_sessions
from ebbtide.shipped.git import Repository
from ebbtide.shipped.outcome import outcomes, with_shipped
from ebbtide.shipped.session_work import SessionWork, WorkFile, recorded_work
from ebbtide.shipped.sums import ShippedSums, grouped
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_shipped import Fate, RunShipped
from ebbtide.text.redaction import redacted
from ebbtide.traces.money.file_cache import program_mark
from ebbtide.traces.money.money_cache import MoneyCache

_COLUMNS = ("cost", "landed", "per change", "lines", "per line", "reverted", "open", "lost")
_FATES = {
    Fate.LANDED: "landed",
    Fate.REWRITTEN: "landed and were rewritten by others",
    Fate.REVERTED: "reverted",
    Fate.OPEN: "on an open branch",
    Fate.LOST: "lost",
}


def sessions_of(repository: Path, cache: Path | None) -> str:
    """Returns a folder with the sessions of a repository's checkpoints.

    Args:
        repository: A folder of the repository.
        cache: Where the folder is kept; None for one that is deleted at the end of the program.

    Raises:
        ConfigError: There is no such repository, it has no sessions, or the folder cannot be written.
    """
    git = Repository(repository)
    if cache is None:
        place = tempfile.mkdtemp(prefix="ebbtide-")
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        folder = Path(place, repository.resolve().name)
    else:
        name = hashlib.sha256(os.fsencode(repository.resolve())).hexdigest()[:16]
        folder = cache / "checkpoints" / f"{repository.resolve().name}-{name}"
    try:
        write_sessions(git, folder)
    except OSError as error:
        raise ConfigError(f"{folder}: {error.strerror or error}; --no-cache uses another folder") from error
    return str(folder)


def _label(repo: Path) -> str:
    return str(repo) if repo.name else repo.resolve().name


def show_shipped(
    names: Sequence[str] | None,
    repo: Path,
    selection: SessionFilter,
    options: RunOptions,
    cache_folder: Path | None,
    *,
    everything: bool,
    html: Path | None = None,
    jobs: int | None = None,
) -> Result:
    """Returns what sessions shipped into a repository.

    Args:
        names: Files, folders, or ``-``; None: the sessions of this machine that worked in the repository.
        repo: A folder of the repository.
        selection: Which sessions of this machine.
        options: By what they are priced, and whether secrets are masked.
        cache_folder: Where what files gave is kept; None keeps nothing.
        everything: Show every row.
        html: Write the page of the sessions into this file, each with its commits; None writes none.
        jobs: Processes that judge the sessions for it; None takes one a core where they are worth it.

    Raises:
        ConfigError: There is no such repository, git cannot be asked, or the page cannot be written.
        TranscriptError: No session can be read.
    """
    repository = Repository(repo)
    prices = options.prices or Prices()
    if names is None:
        cache = MoneyCache(cache_folder, program_mark(__version__))
        machine = MachineSessions.of(selection, cache.origin)
        parts = _inside(machine.parts.values(), repository.roots())
        money = SessionMoney.read([part.file for part in parts], prices, cache)
        files = [
            WorkFile(part.file.path, part.session, part.project, part.file.agent.value) for part in parts
        ]
        if not files:
            raise TranscriptError(
                f"no session {selection.period or 'of this machine'} worked in {_label(repo)}",
                hint="--since all looks at all of them; sessions of other machines can be named as files.",
            )
        unread = 0
    else:
        selection.refuse_beside_trace()
        named = read_named_money(names, options)
        money = named.money
        files = [WorkFile(place.path, place.session, place.project, place.agent) for place in named.places]
        unread = len(named.unread)
        for item in named.unread:
            warn(f"{item.source}: UNREADABLE: {item.what.splitlines()[0]}")
    works, errors = recorded_work(files)
    for error in errors:
        warn(f"{error.source}: {error.what.splitlines()[0]}")
    report = _Report(works, outcomes(repository, works), money.trees(), _label(repo), options)
    if html is not None:
        _write_page(html, files, report, options, jobs)
    return Result(
        json=report.wire,
        text=lambda width: report.screen(width, everything=everything),
        exit=Exit.BAD_INPUT if unread else Exit.DONE,
    )


def _inside(parts: Iterable[SessionPart], roots: Sequence[str]) -> list[SessionPart]:
    """The sessions whose project is one of some folders, or in one."""
    folders = [Path(os.path.realpath(root)) for root in roots]
    is_ignored = ignored_runs()
    return [
        part
        for part in parts
        if part.project is not None
        and not part.file.obstacle
        and any(Path(os.path.realpath(part.project)).is_relative_to(folder) for folder in folders)
        and not is_ignored(part.file.path)
    ]


def _write_page(
    file: Path, files: Sequence[WorkFile], report: _Report, options: RunOptions, jobs: int | None
) -> None:
    options = dataclasses.replace(options, timeline=True)
    paths = tuple(item.path for item in files)
    traces = TraceFiles(
        files=paths, from_arguments=frozenset(), refusals=(), several=len(paths) > 1, are_growing=True
    )
    summaries, skipped_files = check_files(traces, options, jobs=jobs)
    sessions = {item.path: item.session for item in files}
    write_page(file, with_shipped(summaries, sessions, report.shipped()), options, skipped_files)


class _Report:
    """The sums of outcomes, and how they are shown."""

    def __init__(
        self,
        works: Sequence[SessionWork],
        found: Sequence[RunShipped],
        trees: Mapping[str, TreeMoney],
        repo: str,
        options: RunOptions,
    ) -> None:
        self._repo = repo
        self._trees = trees
        self._options = options
        self._items = [
            (work, _with_cost(shipped, trees.get(work.session)))
            for work, shipped in zip(works, found, strict=True)
        ]

    def _model(self, work: SessionWork) -> str:
        tree = self._trees.get(work.session)
        return (tree and tree.model) or "unknown"

    def _groups(self) -> dict[str, dict[str, ShippedSums]]:
        keys: dict[str, Callable[[SessionWork], str]] = {
            "agent": lambda work: work.agent or "unknown",
            "model": self._model,
            "project": lambda work: work.project or "unknown",
        }
        return {
            name: grouped((key(work), shipped) for work, shipped in self._items) for name, key in keys.items()
        }

    def _total(self) -> ShippedSums:
        return ShippedSums.of(shipped for _, shipped in self._items)

    def wire(self) -> dict[str, Any]:
        """The wire form; a number that is not known is None."""
        wire = {
            "schema": 1,
            "type": "shipped",
            "repository": self._repo,
            **self._total().to_dict(),
            **{
                f"by_{name}": [{name: key, **group.to_dict()} for key, group in groups.items()]
                for name, groups in self._groups().items()
            },
            "by_session": [
                {
                    "session": work.session,
                    "agent": work.agent,
                    "model": self._model(work),
                    "project": work.project,
                    **to_wire(shipped),
                }
                for work, shipped in self._items
            ],
        }
        return redacted(wire) if self._options.redact else wire

    def shipped(self) -> dict[str, RunShipped]:
        """Returns what each session shipped, by its id."""
        found = {work.session: shipped for work, shipped in self._items}
        return {session: redacted(part) for session, part in found.items()} if self._options.redact else found

    def screen(self, width: int, *, everything: bool) -> Iterator[Line]:
        """The lines for a terminal."""
        total = self._total()
        for line in _sentences(total, self._repo):
            yield from line.wrap(width)
        if not total.sessions:
            return
        for name, groups in self._groups().items():
            if len(groups) > 1:
                yield Line()
                yield from _table(name, groups, width, everything=everything)
        rows = grouped((work.session, shipped) for work, shipped in self._items)
        with_commits = {session: group for session, group in rows.items() if group.sessions}
        yield Line()
        yield from _table("session", with_commits, width, everything=everything)


def _with_cost(shipped: RunShipped, tree: TreeMoney | None) -> RunShipped:
    """Returns what a session shipped with its dollars, as far as prices are known."""
    if tree is None or not tree.sums.calls:
        return shipped
    sums = tree.sums
    cost_usd = usd(sums.cost_units) if sums.cost_units or not sums.unpriced else None
    return dataclasses.replace(shipped, cost_usd=cost_usd, unpriced=sums.unpriced)


def _sentences(total: ShippedSums, repo: str) -> Iterator[Line]:
    where = short_path(repo)
    if not total.sessions:
        yield Line(f"No session has a commit in {where}.", "bold")
    else:
        parts = [f"{total.fates[fate]:,} {words}" for fate, words in _FATES.items() if total.fates[fate]]
        cost = "an unknown cost" if total.cost_usd is None else _cost(total)
        changes = count(sum(total.fates.values()), "change")
        yield Line(
            f"{count(total.sessions, 'session')} with commits in {where}, {cost}: "
            f"{changes}{': ' if parts else ''}{', '.join(parts)}.",
            "bold",
        )
        if total.landed:
            lines = f"{_lines(total)} lines that landed remain"
            yield Line(
                f"{_amount(total.usd_per_landed_change)} per landed change, "
                f"{_amount(total.usd_per_surviving_line)} per surviving line: {lines}."
            )
    if total.unknown:
        yield Line(
            f"{count(total.unknown, 'session')} changed files that no commit here has: unknown, and not in "
            "the sums."
        )
    if total.unchanged:
        yield Line(f"{count(total.unchanged, 'session')} changed no file.", "dim")


def _table(title: str, groups: Mapping[str, ShippedSums], width: int, *, everything: bool) -> list[Line]:
    rows = [(name, _cells(group)) for name, group in groups.items()]
    optional = ("sessions", "lost", "open", "per line")
    return sums_table(title, rows, width, optional=optional, everything=everything)


def _cells(group: ShippedSums) -> dict[str, str]:
    return {
        "sessions": f"{group.sessions:,}",
        "cost": _cost(group),
        "landed": _number(group.landed),
        "per change": _amount(group.usd_per_landed_change),
        "lines": _lines(group),
        "per line": _amount(group.usd_per_surviving_line),
        "reverted": _number(group.reverted),
        "open": _number(group.open),
        "lost": _number(group.lost),
    }


def _cost(group: ShippedSums) -> str:
    return cost_cell(group.cost_usd, is_partial=group.unpriced > 0)


def _amount(value: float | None) -> str:
    return UNKNOWN if value is None else dollars(value)


def _lines(group: ShippedSums) -> str:
    if group.lines_added is None:
        return UNKNOWN
    return f"{_number(group.lines_surviving)} of {group.lines_added:,}"


def _number(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"
