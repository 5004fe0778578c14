"""`ebbtide archive ...`: many runs, checked into one file, and what that says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ebbtide.cli.declaration import Argument, CommandGroup, Option
from ebbtide.cli.exits import Exit
from ebbtide.cli.runs.options import with_run_options
from ebbtide.cli.shared_options import OUTPUT, AsJson, Jobs, Page
from ebbtide.supervision.run_options import RunOptions

archive = CommandGroup(name="archive", help="Check many runs into one file, and see what it says.")


@archive.command(
    name="check",
    exits={
        Exit.DONE: "every run was checked",
        Exit.BAD_INPUT: "wrong usage, or there is nothing to check",
        Exit.PARTLY: "some runs could not be checked: the results say where and why",
    },
)
@with_run_options
def check(
    options: RunOptions,
    sources: Annotated[
        list[str],
        Argument(metavar="FILE|DIR|URL...", help="Files, folders, patterns, and URLs such as s3://..."),
    ],
    output: Annotated[Path, Option("--output", "-o", metavar="FILE", help=OUTPUT)],
    jobs: Jobs = None,
    run_timeout: Annotated[
        float, Option("--run-timeout", metavar="S", at_least=0, help="Give up a run that takes longer.")
    ] = 300.0,
    as_json: AsJson = False,
) -> None:
    """Check all runs of an archive, and write one row a run to a Parquet file.

    Interrupted or killed, the same command goes on where it was. docs/archives.md has the columns.
    """
    from ebbtide.cli.archive.archive_check import check_archive

    raise SystemExit(
        check_archive(
            sources, options, output=output, jobs=jobs, run_timeout=run_timeout or None, as_json=as_json
        )
    )


@archive.command()
def report(
    results: Annotated[Path, Argument(metavar="FILE", help="Results of `ebbtide archive check`.")],
    html: Page = None,
    everything: Annotated[
        bool, Option("--all", help="Show everything, not just one screen.", section="Output")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what the runs of an archive cost, what of that bought nothing, and on which tools.

    By kind of waste, tool, agent, model and week, with the hundred worst runs.
    """
    from ebbtide.cli.archive.archive_report import report_archive

    report_archive(results, html=html, everything=everything, as_json=as_json)
