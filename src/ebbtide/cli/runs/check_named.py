"""Checks the runs that somebody named: files, folders, or standard input."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ebbtide.budget.tally import units, usd
from ebbtide.checking import check as check_run
from ebbtide.cli.exits import Exit
from ebbtide.cli.runs.checking import Output, check_files, show, show_unread, skipped_file
from ebbtide.cli.runs.ignoring import ignored_by
from ebbtide.cli.runs.run_table import SkippedFile
from ebbtide.cli.runs.session_row import avoidable_usd, wasted_usd
from ebbtide.cli.runs.trace_files import TraceFiles
from ebbtide.cli.terminal import print_json, warn
from ebbtide.errors import TranscriptError
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.summary.spending import plus, together


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
    if output.as_json:
        print_json(_totals(summaries), indent=None)
    unreadable = [item for item in skipped_files if item.is_named or (item.is_unreadable and output.fail_on)]
    for item in unreadable:
        warn(f"{item.source}: UNREADABLE: {item.reason.splitlines()[0]}")
    if unreadable:
        return Exit.BAD_INPUT
    return Exit.CHECK_FAILED if fails else Exit.DONE


def _totals(summaries: Sequence[RunSummary]) -> dict[str, Any]:
    """The last line: the sum over runs, each call once."""
    spent = together(summary.spent for summary in summaries)
    costs = [summary.spent.cost_usd for summary in summaries if summary.spent.cost_usd is not None]
    tokens = spent.tokens
    return {
        "schema": 2,
        "type": "totals",
        "runs": len(summaries),
        "spent": {
            "cost_usd": usd(sum(map(units, costs))) if costs else None,
            "tokens": {
                name: getattr(tokens, name) for name in ("input", "output", "cache_read", "cache_write")
            },
            "llm_calls": spent.llm_calls,
            "unpriced": spent.unpriced,
        },
        "wasted_usd": plus(map(wasted_usd, summaries)),
        "avoidable_usd": plus(map(avoidable_usd, summaries)),
    }


def _nothing(skipped_files: Sequence[SkippedFile]) -> str:
    reasons = "".join(f"\n  {item.source}: {item.reason.splitlines()[0]}" for item in skipped_files[:5])
    more = f"\n  and {len(skipped_files) - 5} more" if len(skipped_files) > 5 else ""
    return f"none of {len(skipped_files)} files could be read:{reasons}{more}"
