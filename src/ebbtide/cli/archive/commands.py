"""`ebbtide archive ...`: many runs, checked into one file, and what that says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ebbtide.cli.declaration import Argument, CommandGroup, Option
from ebbtide.cli.exits import Exit
from ebbtide.cli.runs.options import with_run_options
from ebbtide.cli.shared_options import OUTPUT, AsJson, Jobs, Page
from ebbtide.errors import ConfigError
from ebbtide.supervision.run_options import RunOptions

_ROWS = "Tables"
_RUN = "The column that names the run."

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
    output: Annotated[Path, Option("--output", "--out", "-o", metavar="FILE", help=OUTPUT)],
    jobs: Jobs = None,
    run_timeout: Annotated[
        float, Option("--run-timeout", metavar="S", at_least=0, help="Give up a run that takes longer.")
    ] = 300.0,
    rows: Annotated[
        bool, Option("--rows", help="The sources are tables: a row a span or event.", section=_ROWS)
    ] = False,
    row_map: Annotated[
        str | None,
        Option(
            "--map",
            metavar="NAME|FILE",
            help="What their columns are: otlp-clickhouse, langfuse, mlflow, phoenix, or a TOML file.",
            section=_ROWS,
        ),
    ] = None,
    run: Annotated[str | None, Option("--run", metavar="COLUMN", help=_RUN, section=_ROWS)] = None,
    order: Annotated[
        str | None, Option("--order", metavar="COLUMN", help="The column that orders it.", section=_ROWS)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check all runs of an archive, and write one row a run to a Parquet file.

    Interrupted or killed, the same command goes on where it was. docs/archives.md has the columns.

    With --rows the sources are tables of Parquet, CSV or JSON lines, FILE.db#TABLE of SQLite, or
    postgresql://...#TABLE, in which the rows of a run lie anywhere.
    """
    from ebbtide.cli.archive.archive_check import ArchiveCheck

    check = ArchiveCheck(
        sources=sources, options=options, output=output, jobs=jobs, run_timeout=run_timeout or None
    )
    if not rows and (row_map or run or order):
        raise ConfigError("--map, --run and --order are about tables: say --rows, too")
    raise SystemExit(
        check.of_rows(row_map, run, order, as_json=as_json) if rows else check.of_files(as_json=as_json)
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


@archive.command()
def calibrate(
    results: Annotated[
        list[Path], Argument(metavar="FILE...", help="Results of `ebbtide archive check`, one a setting.")
    ],
    outcomes: Annotated[
        Path,
        Option("--outcomes", metavar="FILE", help="Table of how the runs came out: Parquet, CSV or JSON."),
    ],
    outcome: Annotated[
        str, Option("--outcome", metavar="COLUMN", help="The column that says whether the run succeeded.")
    ],
    run: Annotated[str | None, Option("--run", metavar="COLUMN", help=_RUN, section=_ROWS)] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what verdicts would have saved, and how many successes they would have cost.

    For each file of results, for stop and for escalate or stop, in all and by kind of finding: the runs that
    would have been ended, how many of them failed, and the money after the verdict.
    """
    from ebbtide.cli.archive.archive_calibrate import calibrate_archive

    calibrate_archive(results, outcomes, run=run or "run_id", outcome=outcome, as_json=as_json)
