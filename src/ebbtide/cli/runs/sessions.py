"""`ebbtide check` without a trace: what the sessions of coding agents on this machine came to."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from ebbtide import __version__
from ebbtide.budget.tally import dollars
from ebbtide.cli.result import Exit
from ebbtide.cli.runs.check_format import CheckFormat
from ebbtide.cli.runs.checking import Output, exit_code, judged_files, nothing_read, skipped_file, write_page
from ebbtide.cli.runs.csv_table import runs_csv
from ebbtide.cli.runs.fail_on import failures
from ebbtide.cli.runs.ignoring import ignored_by, ignored_runs, print_ignored
from ebbtide.cli.runs.machine_sessions import AGENT_NAMES, MachineSessions, SessionPart
from ebbtide.cli.runs.money import SessionMoney
from ebbtide.cli.runs.money_screen import NARROWEST, ROWS, UNKNOWN, totals_wire
from ebbtide.cli.runs.run_table import SkippedFile, skipped_lines
from ebbtide.cli.runs.session_row import SessionRow, avoidable_usd, wasted_usd
from ebbtide.cli.runs.verdict_cache import VerdictCache
from ebbtide.cli.table import Table, more_rows
from ebbtide.cli.terminal import (
    Line,
    plain,
    print_json,
    print_lines,
    progress_bar,
    terminal_width,
    warn,
)
from ebbtide.report.plurals import count
from ebbtide.report.wording import folder_of
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.idle_sessions import idle_sessions, with_idle_sessions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.summary.run_tree import with_trees
from ebbtide.supervision.summary.spending import plus
from ebbtide.text.redaction import redact
from ebbtide.traces.money.file_cache import program_mark

_NEWEST = 50  # files that are judged before all others
_WHILE_JUDGING = 5  # rows that are shown while others are judged
_SENTENCE = 160


def check_sessions(
    machine: MachineSessions,
    options: RunOptions,
    output: Output,
    *,
    money: SessionMoney,
    cache_folder: Path | None,
    jobs: int | None = None,
) -> Exit:
    """Print what became of this machine's sessions.

    Args:
        machine: The sessions.
        options: By what they are judged.
        output: What to do with the answers.
        money: What they cost, which is on the screen already.
        cache_folder: Where verdicts are kept; None keeps none.
        jobs: Processes; None takes one a core where they are worth it.

    Returns:
        As `check` does for a folder.

    Raises:
        TranscriptError: None of them can be read.
        ConfigError: The page cannot be written.
    """
    options = dataclasses.replace(options, timeline=output.html is not None)
    ignored = set(filter(ignored_runs(), machine.parts))
    obstacles = {path: part.file.obstacle for path, part in machine.parts.items() if path not in ignored}
    paths = [path for path, obstacle in obstacles.items() if not obstacle and path not in money.outside]
    shown: Callable[[str], str] = redact if options.redact else str
    cache = VerdictCache(cache_folder, program_mark(__version__), options)
    rows, summaries, skipped_files = _judge(
        _by_importance(paths, money), options, output, money, cache, jobs=jobs
    )
    skipped_files += [
        SkippedFile(source=shown(path), reason=reason, is_unreadable=True)
        for path, reason in (*obstacles.items(), *machine.unreadable)
        if reason
    ]
    skipped_files += [
        SkippedFile(source=shown(path), reason=f"ignored by {ignored_by()}") for path in sorted(ignored)
    ]
    # A summary knows its file by the name that may be shown.
    parts = {
        shown(path): dataclasses.replace(part, project=part.project and shown(part.project))
        for path, part in machine.parts.items()
    }
    if output.form is CheckFormat.CSV:
        sys.stdout.write(runs_csv(summaries))
    if output.as_json:
        for summary in summaries:
            print_json(run_wire(summary, parts[summary.source]), indent=None)
        for item in skipped_files:
            print_json(item.to_dict(), indent=None)
        wire = totals_wire(money, machine.selection, None, options)
        print_json({**wire, **_waste_wire(rows)}, indent=None)
    if not rows and (skipped_files or not money.outside):
        raise nothing_read(skipped_files, count(len(skipped_files), "session"))
    if output.html is not None:
        write_page(output.html, summaries, options, skipped_files)
    if output.form is CheckFormat.TEXT:
        width = terminal_width()
        if rows:
            print_lines(waste_screen(rows, width, everything=output.everything))
        elif money.outside:
            others = count(len(money.outside), "file")
            print_lines([Line(f"{others} with calls on other days: --since all", "dim")])
        print_lines(_skipped_lines(skipped_files, parts, width, everything=output.everything))
        print_ignored(sum(row.ignored for row in rows))
    problems = failures(summaries, output.fail_on, output.known(summaries))
    for problem in problems:
        warn(str(problem))
    unreadable = [item for item in skipped_files if item.is_unreadable and output.fail_on]
    return exit_code(unreadable, fails=bool(problems))


def _judge(
    paths: Sequence[str],
    options: RunOptions,
    output: Output,
    money: SessionMoney,
    cache: VerdictCache,
    *,
    jobs: int | None,
) -> tuple[list[SessionRow], list[RunSummary], list[SkippedFile]]:
    """Judge files, as far as the cache does not have them, with the worst so far and a bar on a terminal.

    Returns:
        A row a file that was read; all of it, by the names of the files, where rows are not enough; and the
        files that cannot be read.
    """
    rows: list[SessionRow] = []
    summaries: list[RunSummary] = []
    skipped_files: list[SkippedFile] = []
    due: list[str] = []
    for path in paths:
        kept = cache.get(path, money.inherited.get(path))
        summary = kept.summary() if kept is not None and output.needs_summaries else None
        if kept is None or (summary is None and output.needs_summaries):
            due.append(path)
            continue
        rows.append(kept.row)
        if summary is not None:
            summaries.append(summary)

    def worst() -> list[Line]:
        is_shown = rows and output.form is CheckFormat.TEXT
        return _worst(rows, terminal_width(), most=_WHILE_JUDGING) if is_shown else []

    how = {"jobs": jobs, "from_arguments": (), "is_growing": True, "inherited": money.inherited}
    try:
        with progress_bar("judging", len(due), above=worst) as advance:
            for path, result in judged_files(due, options, **how):
                if isinstance(result, RunSummary):
                    row = SessionRow.of(result)
                    rows.append(row)
                    cache.put(path, money.inherited.get(path), row, result)
                    if output.needs_summaries:
                        summaries.append(result)
                else:
                    skipped_files.append(skipped_file(result, path, options, is_named=False))
                advance(1)
    finally:
        cache.save()
    summaries = with_idle_sessions(with_trees(summaries), options.profile.ignore)
    by_source = attrgetter("source")
    return rows, sorted(summaries, key=by_source), sorted(skipped_files, key=by_source)


def _by_importance(paths: Sequence[str], money: SessionMoney) -> list[str]:
    """Sorts files that have the latest first: the newest, then the others, of both the dearest first."""

    def dearest(path: str) -> int:
        return -money.units_of(path)

    return sorted(paths[:_NEWEST], key=dearest) + sorted(paths[_NEWEST:], key=dearest)


def _waste_wire(rows: Sequence[SessionRow]) -> dict[str, Any]:
    loops = idle_sessions(row.span for row in rows)
    return {
        "runs": len(rows),
        "idle_sessions": [{**dataclasses.asdict(loop), "sentence": loop.sentence} for loop in loops],
        "wasted_usd": plus(row.wasted_usd for row in rows),
        "avoidable_usd": plus(row.avoidable_usd for row in rows),
    }


def run_wire(summary: RunSummary, part: SessionPart) -> dict[str, Any]:
    """A run as JSON, with the session that its file is of."""
    session = {
        "agent": part.file.agent.value,
        "id": part.session,
        "project": part.project,
        "day": part.day,
        "is_main": part.is_main,
        "wasted_usd": wasted_usd(summary),
        "avoidable_usd": avoidable_usd(summary),
    }
    return {**summary.to_dict(), "session": session}


def _skipped_lines(
    skipped_files: Sequence[SkippedFile], parts: Mapping[str, SessionPart], width: int, *, everything: bool
) -> list[Line]:
    """Returns the lines on how many files were not read; with everything, which and why."""
    if not skipped_files:
        return []
    if everything:
        return skipped_lines(skipped_files, width, everything=True)
    broken = Counter(_kind(parts.get(item.source)) for item in skipped_files if item.is_unreadable)
    lines = [
        Line(f"{count(number, what)}{owner} UNREADABLE{reason}", "red")
        for (what, owner, reason), number in broken.items()
    ]
    others = Counter(item.reason for item in skipped_files if not item.is_unreadable)
    lines += [Line.safe(f"{count(number, 'file')}: {reason}", "dim") for reason, number in others.items()]
    lines.append(Line("--all names them.", "dim"))
    return [Line(), *(part for line in lines for part in line.wrap(width))]


def _kind(part: SessionPart | None) -> tuple[str, str, str]:
    """Returns the kind of what cannot be read, its owner and the reason, in words."""
    if part is None:
        return "folder", "", ""
    obstacle = part.file.obstacle
    return "file", f" of {AGENT_NAMES[part.file.agent]}", f": {obstacle}" if obstacle else ""


def waste_screen(rows: Sequence[SessionRow], width: int, *, everything: bool = False) -> list[Line]:
    """The screen of what the money of some sessions bought, at least one, and of the worst of them."""
    most = None if everything else ROWS
    loops = [
        part
        for loop in idle_sessions(row.span for row in rows)
        for part in Line.safe(loop.sentence, "red").wrap(width)
    ]
    waste = Line(_waste_sentence(rows), "bold").wrap(width)
    return [Line(), *waste, *loops, *_worst(rows, width, most=most)]


def _waste_sentence(rows: Sequence[SessionRow]) -> str:
    cost = plus(row.cost_usd for row in rows) or 0.0
    wasted = plus(row.wasted_usd for row in rows)
    avoidable = plus(row.avoidable_usd for row in rows)
    amounts = ((wasted, "was wasted"), (avoidable, "could have been avoided"))
    shares = [f"{dollars(amount)}{_share(amount, cost)} of it {what}" for amount, what in amounts if amount]
    if shares:
        return f"{', and '.join(shares)}."
    return "The waste is unknown." if wasted is None else "No waste was found."


def _share(amount: float, cost: float) -> str:
    return f" ({amount / cost:.0%})" if amount >= 0.01 * cost > 0 else ""


def _worst(rows: Sequence[SessionRow], width: int, *, most: int | None) -> list[Line]:
    """The runs that wasted most, then those that came out worst, each with a sentence and its file."""
    visible = sorted(rows, key=lambda row: row.order)[:most]
    folder = folder_of([row.source for row in rows])
    table = Table("cost", "wasted", "avoidable", "verdict", right=(0, 1, 2), least=NARROWEST)
    for row in visible:
        amounts = (row.cost, _waste(row.wasted_usd), _waste(row.avoidable_usd))
        table.add(*amounts, Line(row.verdict, row.style))
    title = Line("The worst first", "bold").append(f", in {plain(folder)}" if folder else "", "dim")
    header, *drawn = table.parts(width)
    lines = [*title.wrap(width), *header]
    for row, first in zip(visible, drawn, strict=True):
        below = (Line(plain(row.why, _SENTENCE)), Line.safe(row.source.removeprefix(folder), "dim"))
        lines += [*first, *(Line("  ").extend(part) for line in below for part in line.wrap(width - 2))]
    return [*lines, *more_rows(len(rows) - len(visible))]


def _waste(amount: float | None) -> str:
    return UNKNOWN if amount is None else dollars(amount) if amount else "-"
