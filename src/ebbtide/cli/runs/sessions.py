"""`ebbtide check` without a trace: what the sessions of coding agents on this machine came to."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ebbtide.cli.exits import Exit
from ebbtide.cli.lines import Line, print_lines, terminal_width
from ebbtide.cli.runs.checking import Output, check_files, endings_of, open_model, write_page
from ebbtide.cli.runs.fail_on import failures
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
    readable = tuple(path for path, part in machine.parts.items() if not part.file.obstacle)
    traces = TraceFiles(
        files=readable, from_arguments=frozenset(), refusals=(), several=True, are_growing=True
    )
    summaries, skipped_files = check_files(traces, options, jobs=jobs)
    skipped_files += [
        SkippedFile(source=path, reason=part.file.obstacle, is_unreadable=True)
        for path, part in machine.parts.items()
        if part.file.obstacle
    ]
    # A summary knows its file by the name that may be shown.
    parts = {redact(path) if options.redact else path: part for path, part in machine.parts.items()}
    runs = [SessionRun(part=parts[summary.source], summary=summary) for summary in summaries]
    runs.sort(key=lambda run: run.part.file.path)
    if output.as_json:
        _print_json(runs, skipped_files, machine.selection)
    if not runs:
        raise _nothing_read(skipped_files)
    if output.html is not None:
        write_page(output.html, summaries, options)
    endings = endings_of(summaries, model, options)
    if not output.as_json:
        width = terminal_width()
        print_lines(session_screen(runs, machine.selection.period, width, everything=output.everything))
        print_lines(_skipped_lines(skipped_files, machine.parts, width, everything=output.everything))
        if endings is not None:
            print_lines([Line(), *endings.lines(width)])
    problems = failures(summaries, output.fail_on)
    for line in problems:
        warn(line)
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
    tables = {
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
    broken = Counter(
        (AGENT_NAMES[parts[item.source].file.agent], parts[item.source].file.obstacle)
        for item in skipped_files
        if item.is_unreadable
    )
    lines = [
        Line(f"{count(number, 'file')} of {name} UNREADABLE{f': {reason}' if reason else ''}", "red")
        for (name, reason), number in broken.items()
    ]
    empty = sum(not item.is_unreadable for item in skipped_files)
    if empty:
        lines.append(Line(f"{count(empty, 'file')} without a call or a message", "dim"))
    lines.append(Line("--all names them.", "dim"))
    return [Line(), *(part for line in lines for part in line.wrap(width))]


def _nothing_read(skipped_files: Sequence[SkippedFile]) -> TranscriptError:
    reasons = "".join(f"\n{item.source}: {item.reason.splitlines()[0]}" for item in skipped_files[:5])
    more = f"\nand {len(skipped_files) - 5:,} more" if len(skipped_files) > 5 else ""
    return TranscriptError(f"none of {count(len(skipped_files), 'session')} could be read:{reasons}{more}")
