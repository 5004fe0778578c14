"""`ebbtide check`: what became of recorded runs, or of this machine's sessions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import click

from ebbtide import __version__
from ebbtide.cli.declaration import FILE, FORMAT, Argument, Command, Jobs, Option, Page, Repo
from ebbtide.cli.result import Exit
from ebbtide.cli.runs.check_format import CheckFormat
from ebbtide.cli.runs.machine_sessions import MachineSessions
from ebbtide.cli.runs.money import MoneyKey
from ebbtide.cli.runs.money_screen import show_money
from ebbtide.cli.runs.options import with_run_options
from ebbtide.cli.runs.session_filter import SECTION, SessionFilter, with_session_period
from ebbtide.errors import ConfigError
from ebbtide.supervision.run_options import RunOptions
from ebbtide.traces.money.file_cache import cache_folder, program_mark
from ebbtide.traces.money.money_cache import MoneyCache

_OUTPUT = "Output"


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "the runs were checked",
        Exit.BAD_INPUT: "wrong usage, a named file is UNREADABLE (with --fail-on also a file in a folder), "
        "or there is nothing to check",
        Exit.CHECK_FAILED: "a run meets a condition of --fail-on",
    },
)
@with_run_options
@with_session_period
def check(
    selection: SessionFilter,
    options: RunOptions,
    traces: Annotated[
        list[str] | None,
        Argument(
            metavar="[FILE...]", type=FILE, help="Recorded runs: files, folders, or - for standard input."
        ),
    ] = None,
    jobs: Jobs = None,
    html: Page = None,
    fail_on: Annotated[
        list[str] | None,
        Option(
            "--fail-on",
            metavar="WHAT",
            help="Exit with code 50 on: stuck, limit, failed, stop, escalate, nudge, unknown, unread, "
            "contradicted, cost=USD, tokens=N or events=N. Repeatable.",
            section=_OUTPUT,
        ),
    ] = None,
    form: Annotated[
        CheckFormat | None,
        Option(
            "--format",
            metavar="FORMAT",
            help=FORMAT,
            section=_OUTPUT,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        Option(
            "--baseline",
            metavar="FILE",
            help="Findings in FILE are known: --fail-on does not count them.",
            section=_OUTPUT,
        ),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        Option(
            "--write-baseline",
            metavar="FILE",
            help="Write all findings to FILE, as known findings.",
            section=_OUTPUT,
        ),
    ] = None,
    top: Annotated[
        int | None,
        Option(
            "--top",
            metavar="N",
            at_least=1,
            help="Show the N worst rows of a table; runs with the same reason share a row.",
            section=_OUTPUT,
        ),
    ] = None,
    everything: Annotated[
        bool,
        Option("--all", help="Show everything, not just one screen.", section=_OUTPUT),
    ] = False,
    every_claim: Annotated[
        bool,
        Option(
            "--claims",
            help="Show every claim of the final message, and what the record says about it.",
            section=_OUTPUT,
        ),
    ] = False,
    repo: Repo = None,
    git: Annotated[
        Path | None,
        Option(
            "--git",
            metavar="DIR",
            help="Check the sessions that Entire keeps in this git repository.",
        ),
    ] = None,
    by: Annotated[
        MoneyKey | None,
        Option(
            "--by",
            metavar="WHAT",
            help="Print only the cost, summed by WHAT. It also works for named files.",
            section=SECTION,
        ),
    ] = None,
    cache: Annotated[
        bool,
        Option(
            "--cache/--no-cache",
            help="Cache what was read from session files; the default is yes.",
            section=SECTION,
        ),
    ] = True,
    as_json: Annotated[bool, Option("--json", help="Print JSON.", section=_OUTPUT)] = False,
) -> None:
    """Check recorded runs: verdict, cost, loops, decisions.

    One file prints a screen. Several files or a folder print a table, worst first; with --json, one object
    per line.

    Without a FILE, `ebbtide check` finds the sessions of coding agents on this machine. It reports the cost
    of the last seven days by day and project, including what was wasted. One project since yesterday: ebbtide
    check --since 24h --project shop. All sessions: --since all

    --format github, junit, sarif and markdown print a report for a CI system. --format csv prints a table,
    one line per run, or with --by one line per group.
    """
    folder = cache_folder(os.environ) if cache else None
    if git is not None or repo is not None:
        from ebbtide.cli.runs.shipped import sessions_of, show_shipped

        if git is not None:
            if traces:
                raise ConfigError("--git and FILE cannot be combined")
            traces = [sessions_of(git, folder)]
        if repo is not None:
            if by is not None or fail_on or form is not None or baseline is not None:
                raise ConfigError(
                    "--repo prints a screen, JSON with --json, and a page with --html; leave out the other "
                    "outputs"
                )
            result = show_shipped(
                traces, repo, selection, options, folder, everything=everything, html=html, jobs=jobs
            )
            result.print(as_json=as_json)
            return
    is_report = form is not None and form.is_report
    shape = CheckFormat.JSON if as_json else form or CheckFormat.TEXT
    if traces is None:
        for_files = {f"--format {form}": is_report, "--write-baseline": write_baseline, "--top": top}
        for option, value in for_files.items():
            if value:
                raise ConfigError(f"{option} needs a FILE")
        money_cache = MoneyCache(folder, program_mark(__version__))
        machine = MachineSessions.of(selection, money_cache.origin)
        money = show_money(machine, options, by, money_cache, form=shape, everything=everything)
        if by is not None:
            return
    else:
        selection.refuse_beside_trace()
        if by is not None:
            from ebbtide.cli.runs.named_money import show_named_money

            raise SystemExit(show_named_money(traces, options, by, form=shape, everything=everything))
    # The money is on the screen before what takes long to load is loaded.
    from ebbtide.cli.runs.checking import Output, check_named

    output = Output.of(
        as_json=as_json,
        form=form,
        everything=everything,
        every_claim=every_claim,
        top=top,
        html=html,
        fail_on=fail_on or (),
        baseline=baseline,
        write_baseline=write_baseline,
    )
    if traces is not None:
        raise SystemExit(check_named(traces, options, output, jobs=jobs))
    from ebbtide.cli.runs.sessions import check_sessions

    raise SystemExit(check_sessions(machine, options, output, money=money, cache_folder=folder, jobs=jobs))
