"""Checks the runs that somebody named: files, folders, or standard input."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ebbtide.checking import check as check_run
from ebbtide.cli.exits import Exit
from ebbtide.cli.runs.checking import Output, check_files, show, show_unread, skipped_file
from ebbtide.cli.runs.ignoring import ignored_by
from ebbtide.cli.runs.run_table import SkippedFile
from ebbtide.cli.runs.trace_files import TraceFiles
from ebbtide.cli.terminal import warn
from ebbtide.errors import TranscriptError
from ebbtide.supervision.run_options import RunOptions


def check_named(names: Sequence[str], options: RunOptions, output: Output, *, jobs: int | None) -> Exit:
    """Prints what became of the runs in files, folders, or ``-`` for standard input.

    Returns:
        `Exit.BAD_INPUT` where a file that was named is unreadable, or, with a condition, one in a folder;
        otherwise `Exit.CHECK_FAILED` where a run meets a condition.

    Raises:
        TranscriptError: A single run cannot be read, or of many none.
        ConfigError: The page cannot be written.
    """
    traces, left_out = TraceFiles.of(names).without(output.ignored_runs)
    options = dataclasses.replace(options, timeline=output.html is not None)
    if not traces.several and not left_out:
        try:
            summary = check_run(traces.files[0], options)
        except TranscriptError as error:
            show_unread([skipped_file(error, traces.files[0], options, is_named=True)], output, indent=2)
            raise
        fails = show([summary], (), options, output, several=False)
        return Exit.CHECK_FAILED if fails else Exit.DONE
    summaries, skipped_files = check_files(traces, options, jobs=jobs)
    if not summaries and skipped_files:
        show_unread(skipped_files, output)
        raise TranscriptError(_nothing(skipped_files))
    ignored = [SkippedFile(source=path, reason=f"ignored by {ignored_by()}") for path in left_out]
    fails = show(summaries, [*skipped_files, *ignored], options, output)
    unreadable = [item for item in skipped_files if item.is_named or (item.is_unreadable and output.fail_on)]
    for item in unreadable:
        warn(f"{item.source}: UNREADABLE: {item.reason.splitlines()[0]}")
    if unreadable:
        return Exit.BAD_INPUT
    return Exit.CHECK_FAILED if fails else Exit.DONE


def _nothing(skipped_files: Sequence[SkippedFile]) -> str:
    reasons = "".join(f"\n  {item.source}: {item.reason.splitlines()[0]}" for item in skipped_files[:5])
    more = f"\n  and {len(skipped_files) - 5} more" if len(skipped_files) > 5 else ""
    return f"none of {len(skipped_files)} files could be read:{reasons}{more}"
