"""Checks the runs in files, and prints what became of them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ebbtide import __version__
from ebbtide.budget.limits import Limits
from ebbtide.budget.tally import units, usd
from ebbtide.cli.result import Exit
from ebbtide.cli.runs.baseline import Baseline, KnownFindings
from ebbtide.cli.runs.check_format import CheckFormat
from ebbtide.cli.runs.csv_table import runs_csv
from ebbtide.cli.runs.fail_on import Condition, FailedCondition, conditions, failures
from ebbtide.cli.runs.ignoring import ignored_by, ignored_runs, print_ignored, warn_of_tools
from ebbtide.cli.runs.run_screen import claims_screen, run_screen
from ebbtide.cli.runs.run_table import SkippedFile, run_table
from ebbtide.cli.runs.session_row import avoidable_usd, wasted_usd
from ebbtide.cli.runs.trace_files import TraceFiles
from ebbtide.cli.settings.options import origin
from ebbtide.cli.terminal import (
    Line,
    print_json,
    print_lines,
    progress_bar,
    terminal_width,
    warn,
    write_file,
)
from ebbtide.errors import ConfigError, EbbtideError, TranscriptError
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.idle_sessions import with_idle_sessions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.summary.run_tree import with_trees
from ebbtide.supervision.summary.spending import plus, together
from ebbtide.text.redaction import redacted


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Options for the answers of a check: their form, their extent, and what makes it fail.

    Args:
        form: What to print.
        everything: Print what does not fit on one screen too.
        every_claim: Print every claim of the last words, with what the record says of it.
        top: How many rows of a table to print, equal reasons in one; None prints a row a run.
        html: Write the page into this file; None writes none.
        fail_on: What makes the check fail.
        baseline: Findings that were accepted; None where none were.
        write_baseline: Accept what is found, in this file; None accepts nothing.
    """

    form: CheckFormat = CheckFormat.TEXT
    everything: bool = False
    every_claim: bool = False
    top: int | None = None
    html: Path | None = None
    fail_on: tuple[Condition, ...] = ()
    baseline: Baseline | None = None
    write_baseline: Path | None = None

    @classmethod
    def of(
        cls,
        *,
        form: CheckFormat | None,
        as_json: bool,
        fail_on: Sequence[str],
        baseline: str | None,
        **rest: Any,
    ) -> Output:
        """Returns the output that options and the project's settings ask for.

        Raises:
            ConfigError: There is no such condition, a baseline that cannot be read, or two formats.
        """
        if as_json and form not in (None, CheckFormat.JSON):
            raise ConfigError(f"--json cannot go with --format {form}")
        form = CheckFormat.JSON if as_json else form or CheckFormat.TEXT
        checks = conditions(fail_on, origin("fail_on", "--fail-on"))
        accepted = None if baseline is None or rest["write_baseline"] else Baseline.load(baseline)
        return cls(form=form, fail_on=checks, baseline=accepted, **rest)

    @property
    def as_json(self) -> bool:
        """True if JSON is printed."""
        return self.form is CheckFormat.JSON

    @property
    def needs_summaries(self) -> bool:
        """True if more of a run is wanted than its row on the screen."""
        others = (self.html, self.fail_on, self.baseline, self.write_baseline)
        return self.form is not CheckFormat.TEXT or any(item is not None and item != () for item in others)

    def known(self, summaries: Sequence[RunSummary]) -> KnownFindings:
        """Returns the accepted findings: those of the baseline, or all where it is written now.

        Raises:
            ConfigError: It cannot be written.
        """
        if self.write_baseline is not None:
            accepted = Baseline.of(str(self.write_baseline), summaries)
            accepted.write()
            return accepted.known(summaries)
        return KnownFindings() if self.baseline is None else self.baseline.known(summaries)


def check_named(names: Sequence[str], options: RunOptions, output: Output, *, jobs: int | None) -> Exit:
    """Prints what became of the runs in files, folders, or ``-`` for standard input.

    Returns:
        `Exit.BAD_INPUT` where a file that was named is unreadable, or, with a condition, one in a folder;
        otherwise `Exit.CHECK_FAILED` where a run meets a condition.

    Raises:
        TranscriptError: A single run cannot be read, or of many none.
        ConfigError: The page cannot be written.
    """
    traces, left_out = TraceFiles.of(names).without(ignored_runs())
    options = dataclasses.replace(options, timeline=output.html is not None)
    if not traces.several and not left_out:
        from ebbtide.checking import check

        try:
            summary = check(traces.files[0], options)
        except TranscriptError as error:
            _show_unread([skipped_file(error, traces.files[0], options, is_named=True)], output, indent=2)
            raise
        fails = show([summary], (), options, output, several=False)
        return Exit.CHECK_FAILED if fails else Exit.DONE
    summaries, skipped_files = check_files(traces, options, jobs=jobs)
    if not summaries and skipped_files:
        _show_unread(skipped_files, output)
        raise nothing_read(skipped_files, f"{len(skipped_files)} files")
    ignored = [SkippedFile(source=path, reason=f"ignored by {ignored_by()}") for path in left_out]
    fails = show(summaries, [*skipped_files, *ignored], options, output)
    if output.as_json:
        print_json(_totals(summaries), indent=None)
    unreadable = [item for item in skipped_files if item.is_named or (item.is_unreadable and output.fail_on)]
    return exit_code(unreadable, fails=fails)


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


def exit_code(unreadable: Sequence[SkippedFile], *, fails: bool) -> Exit:
    """Returns the exit code of a check of many runs, after a warning of each file that could not be read."""
    for item in unreadable:
        warn(f"{item.source}: UNREADABLE: {item.reason.splitlines()[0]}")
    if unreadable:
        return Exit.BAD_INPUT
    return Exit.CHECK_FAILED if fails else Exit.DONE


def nothing_read(skipped_files: Sequence[SkippedFile], what: str) -> TranscriptError:
    """Returns the error that none of some files could be read, with the first reasons."""
    reasons = "".join(f"\n{item.source}: {item.reason.splitlines()[0]}" for item in skipped_files[:5])
    more = f"\nand {len(skipped_files) - 5:,} more" if len(skipped_files) > 5 else ""
    return TranscriptError(f"none of {what} could be read:{reasons}{more}")


def show(
    summaries: Sequence[RunSummary],
    skipped_files: Sequence[SkippedFile],
    options: RunOptions,
    output: Output,
    *,
    several: bool = True,
) -> bool:
    """Prints runs that were checked, and writes their page.

    Returns:
        Whether a run meets a condition that fails the check.

    Raises:
        ConfigError: The page cannot be written.
    """
    if output.html is not None:
        write_page(output.html, summaries, options, skipped_files)
    known_findings = output.known(summaries)
    problems = failures(summaries, output.fail_on, known_findings)
    if output.form.is_report:
        _print_report(summaries, skipped_files, output, problems, known_findings)
    elif output.form is CheckFormat.CSV:
        sys.stdout.write(runs_csv(sorted(summaries, key=wording.badness)))
    elif output.as_json:
        for summary in summaries:
            print_json(_wire(summary, known_findings), indent=None if several else 2)
        for item in skipped_files:
            print_json(item.to_dict(), indent=None)
    elif several:
        width = terminal_width()
        print_lines(run_table(summaries, skipped_files, width, everything=output.everything, top=output.top))
        if output.every_claim:
            print_lines(claims_screen(summaries, width))
    else:
        summary, everything = summaries[0], output.everything
        print_lines(
            run_screen(
                summary,
                terminal_width(),
                everything=everything,
                every_claim=output.every_claim,
                known_findings=known_findings.of(summary),
            )
        )
    if output.form is CheckFormat.TEXT:
        print_ignored(sum(summary.ignored for summary in summaries))
        if known_findings.file is not None:
            number, file = count(len(known_findings), "finding"), known_findings.file
            is_new = output.write_baseline is not None
            text = f"wrote {number} to {file}" if is_new else f"{number} known from {file}"
            print_lines([Line.safe(text, "dim")])
    warn_of_tools(summaries)
    for problem in problems:
        warn(str(problem))
    return bool(problems)


def _print_report(
    summaries: Sequence[RunSummary],
    skipped_files: Sequence[SkippedFile],
    output: Output,
    problems: Sequence[FailedCondition],
    known_findings: KnownFindings,
) -> None:
    from ebbtide.cli.runs.ci_reports import REPORTS, CheckedRuns

    checked = CheckedRuns(
        summaries=summaries,
        skipped_files=skipped_files,
        problems=problems,
        known_findings=known_findings,
        is_gate=bool(output.fail_on),
    )
    sys.stdout.write(REPORTS[output.form](checked))


def _show_unread(skipped_files: Sequence[SkippedFile], output: Output, *, indent: int | None = None) -> None:
    """Prints, for machines, that nothing could be read; for people an error says so."""
    if output.form.is_report:
        _print_report([], skipped_files, output, [], KnownFindings())
    elif output.as_json:
        for item in skipped_files:
            print_json(item.to_dict(), indent=indent)


def _wire(summary: RunSummary, known_findings: KnownFindings) -> dict[str, Any]:
    """A run as JSON; with a baseline, each finding says whether it is known."""
    wire = summary.to_dict()
    if known_findings.file is not None:
        for item, finding in zip(wire["findings"], summary.findings, strict=True):
            item["known"] = finding in known_findings.of(summary)
    return wire


def write_page(
    file: Path,
    summaries: Sequence[RunSummary],
    options: RunOptions,
    skipped_files: Sequence[SkippedFile],
) -> None:
    """Write the page of some runs, and of the files that were not checked, and say so.

    Raises:
        ConfigError: The file cannot be written.
    """
    from ebbtide.report.page import Provenance, page

    prices = "" if options.prices is None else options.prices.origin
    provenance = Provenance(
        version=__version__, profile=options.profile.name, prices=prices, masked=options.redact
    )
    skipped = [(item.source, item.reason) for item in skipped_files]
    html = page(summaries, limits=options.limits or Limits(), provenance=provenance, skipped=skipped)
    write_file(file, html)


def check_files(
    traces: TraceFiles, options: RunOptions, *, jobs: int | None
) -> tuple[list[RunSummary], list[SkippedFile]]:
    """Runs as they came out, and the files that could not be read, with a bar on the terminal meanwhile."""
    summaries: list[RunSummary] = []
    skipped_files = [
        skipped_file(error, str(error.source), options, is_named=False) for error in traces.refusals
    ]
    with progress_bar("checking", len(traces.files)) as advance:
        for path, result in judged_files(
            traces.files,
            options,
            jobs=jobs,
            from_arguments=traces.from_arguments,
            is_growing=traces.are_growing,
        ):
            advance(1)
            if isinstance(result, RunSummary):
                summaries.append(result)
            else:
                is_named = path in traces.from_arguments
                skipped_files.append(skipped_file(result, path, options, is_named=is_named))
    runs = with_idle_sessions(with_trees(summaries), options.profile.ignore)
    return runs, sorted(skipped_files, key=lambda item: item.source)


def judged_files(
    paths: Sequence[str], options: RunOptions, **how: Any
) -> Iterator[tuple[str, RunSummary | EbbtideError]]:
    """Yields the summary of each file, or why there is none, as soon as it is known.

    Args:
        **how: As for `check_many`.
    """
    if paths:
        # The engines take a while to load, and where nothing has changed nobody needs them.
        from ebbtide.checking import check_many

        yield from ((str(path), result) for path, result in check_many(paths, options, **how))


def skipped_file(error: EbbtideError, source: str, options: RunOptions, *, is_named: bool) -> SkippedFile:
    """Says why a file is not among the runs; with secrets masked where they are to be."""
    reason, is_unreadable, line = str(error), True, None
    if isinstance(error, TranscriptError):
        line = error.line
        reason = error.what if error.line is None else f"line {error.line}: {error.what}"
        is_unreadable = is_named or not error.no_trace
    file = SkippedFile(
        source=source, reason=reason, is_named=is_named, is_unreadable=is_unreadable, line=line
    )
    return redacted(file) if options.redact else file
