"""`ebbtide check` without a trace: what the sessions of coding agents on this machine came to."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ebbtide.cli.exits import Exit
from ebbtide.cli.lines import Line, print_lines, terminal_width
from ebbtide.cli.runs.checking import Output, check_files, endings_of, open_model, write_page
from ebbtide.cli.runs.fail_on import failures
from ebbtide.cli.runs.ignoring import ignored_by, print_ignored
from ebbtide.cli.runs.machine_sessions import AGENT_NAMES, MachineSessions, SessionPart
from ebbtide.cli.runs.run_table import SkippedFile, skipped_lines
from ebbtide.cli.runs.session_filter import SessionFilter
from ebbtide.cli.runs.session_screen import session_screen
from ebbtide.cli.runs.session_totals import SessionRun, SessionTotals, grouped
from ebbtide.cli.runs.trace_files import TraceFiles
from ebbtide.cli.terminal import print_json, warn
from ebbtide.errors import TranscriptError
from ebbtide.report.plurals import count
from ebbtide.supervision.run_options import RunOptions
from ebbtide.text.redaction import redact


def check_sessions(
    machine: MachineSessions,
    options: RunOptions,
    output: Output,
    *,
    jobs: int | None = None,
    judge: str | None = None,
) -> Exit:
    """Print what became of this machine's sessions.

    Args:
        machine: The sessions.
        options: By what they are judged.
        output: What to do with the answers.
        jobs: Processes; None takes one a core where they are worth it.
        judge: As for `check`.

    Returns:
        As `check` does for a folder.

    Raises:
        TranscriptError: None of them can be read.
        ConfigError: The page cannot be written, or the judge cannot be asked.
    """
    model = None if judge is None else open_model(judge, (), options)
    options = dataclasses.replace(options, timeline=output.html is not None)
    traces, left_out = TraceFiles(
        files=tuple(machine.parts), from_arguments=frozenset(), refusals=(), several=True, are_growing=True
    ).without(output.ignored_runs)
    obstacles = {path: machine.parts[path].file.obstacle for path in traces.files}
    traces = dataclasses.replace(
        traces, files=tuple(path for path, obstacle in obstacles.items() if not obstacle)
    )
    summaries, skipped_files = check_files(traces, options, jobs=jobs)
    shown: Callable[[str], str] = redact if options.redact else str
    skipped_files += [
        SkippedFile(source=shown(path), reason=reason, is_unreadable=True)
        for path, reason in (*obstacles.items(), *machine.unreadable)
        if reason
    ]
    skipped_files += [
        SkippedFile(source=shown(path), reason=f"ignored by {ignored_by()}") for path in left_out
    ]
    # A summary knows its file by the name that may be shown.
    parts = {
        shown(path): dataclasses.replace(part, project=part.project and shown(part.project))
        for path, part in machine.parts.items()
    }
    runs = [SessionRun(part=parts[summary.source], summary=summary) for summary in summaries]
    runs.sort(key=lambda run: run.summary.source)
    if output.as_json:
        _print_json(runs, skipped_files, machine.selection)
    if not runs:
        raise _nothing_read(skipped_files)
    if output.html is not None:
        write_page(output.html, summaries, options, skipped_files)
    endings = endings_of(summaries, model, options)
    if not output.as_json:
        width = terminal_width()
        print_lines(session_screen(runs, machine.selection.period, width, everything=output.everything))
        print_lines(_skipped_lines(skipped_files, parts, width, everything=output.everything))
        print_ignored(summaries)
        if endings is not None:
            print_lines([Line(), *endings.lines(width)])
    problems = failures(summaries, output.fail_on, output.known(summaries))
    for problem in problems:
        warn(str(problem))
    unreadable = [item for item in skipped_files if item.is_unreadable]
    if unreadable and output.fail_on:
        for item in unreadable:
            warn(f"{item.source}: UNREADABLE: {item.reason.splitlines()[0]}")
        return Exit.BAD_INPUT
    return Exit.CHECK_FAILED if problems else Exit.DONE


def _print_json(
    runs: Sequence[SessionRun], skipped_files: Iterable[SkippedFile], selection: SessionFilter
) -> None:
    """A line a file, and the totals as the last one."""
    for run in runs:
        print_json(run.to_dict(), indent=None)
    for item in skipped_files:
        print_json(item.to_dict(), indent=None)
    tables: dict[str, Mapping[Any, Sequence[SessionRun]]] = {
        "by_day": grouped(runs, lambda run: run.part.day),
        "by_project": grouped(runs, lambda run: run.part.project),
        "by_agent": grouped(runs, lambda run: run.part.file.agent.value),
    }
    wire: dict[str, Any] = {
        name: [
            {name.removeprefix("by_"): key, **SessionTotals.of(group).to_dict()}
            for key, group in groups.items()
        ]
        for name, groups in tables.items()
    }
    since = None if selection.since is None else datetime.fromtimestamp(selection.since, UTC).isoformat()
    totals = SessionTotals.of(runs).to_dict()
    print_json({"schema": 1, "type": "totals", "since": since, **totals, **wire}, indent=None)


def _skipped_lines(
    skipped_files: Sequence[SkippedFile], parts: Mapping[str, SessionPart], width: int, *, everything: bool
) -> list[Line]:
    """How many files were not read; with everything, which and why."""
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
    """What cannot be read, whose it is and why, in words."""
    if part is None:
        return "folder", "", ""
    obstacle = part.file.obstacle
    return "file", f" of {AGENT_NAMES[part.file.agent]}", f": {obstacle}" if obstacle else ""


def _nothing_read(skipped_files: Sequence[SkippedFile]) -> TranscriptError:
    reasons = "".join(f"\n{item.source}: {item.reason.splitlines()[0]}" for item in skipped_files[:5])
    more = f"\nand {len(skipped_files) - 5:,} more" if len(skipped_files) > 5 else ""
    return TranscriptError(f"none of {count(len(skipped_files), 'session')} could be read:{reasons}{more}")
