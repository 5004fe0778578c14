"""`ebbtide archive ...`: many runs, checked into one file, and what that says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ebbtide.cli.declaration import (
    OUTPUT,
    Argument,
    AsJson,
    CommandGroup,
    Jobs,
    Option,
    Output,
    Page,
    WordChoice,
)
from ebbtide.cli.exits import Exit
from ebbtide.cli.runs.options import with_run_options
from ebbtide.errors import ConfigError
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions

_ROWS = "Tables"
_ENDINGS = ("stop", "escalate", "finalize", "nudge")

Sources = Annotated[
    list[str], Argument(metavar="FILE|DIR|URL...", help="Files, folders, patterns, and URLs such as s3://...")
]
RunTimeout = Annotated[
    float, Option("--run-timeout", metavar="S", at_least=0, help="Give up a run that takes longer.")
]
Rows = Annotated[bool, Option("--rows", help="The sources are tables: a row a span or event.", section=_ROWS)]
RowMapName = Annotated[
    str | None,
    Option(
        "--map",
        metavar="NAME|FILE",
        help="What their columns are: otlp-clickhouse, langfuse, mlflow, phoenix, or a TOML file.",
        section=_ROWS,
    ),
]
RunColumn = Annotated[
    str | None, Option("--run", metavar="COLUMN", help="The column that names the run.", section=_ROWS)
]
OrderColumn = Annotated[
    str | None, Option("--order", metavar="COLUMN", help="The column that orders it.", section=_ROWS)
]

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
    sources: Sources,
    output: Annotated[Path, Option("--output", "--out", "-o", metavar="FILE", help=OUTPUT)],
    jobs: Jobs = None,
    run_timeout: RunTimeout = 300.0,
    rows: Rows = False,
    row_map: RowMapName = None,
    run: RunColumn = None,
    order: OrderColumn = None,
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
    _refuse_columns(rows=rows, row_map=row_map, run=run, order=order)
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
    from ebbtide.cli.archive.archive_check import report_archive

    report_archive(results, html=html, everything=everything, as_json=as_json)


@archive.command(
    name="calibrate",
    exits={
        Exit.BAD_INPUT: "wrong usage, a file that cannot be used, or no better setting to write",
        Exit.PARTLY: "some runs could not be checked: they are listed",
    },
)
@with_run_options
def calibrate(
    options: RunOptions,
    sources: Sources,
    outcomes: Annotated[
        Path,
        Option("--outcomes", metavar="FILE", help="Table of how the runs came out: Parquet, CSV or JSON."),
    ],
    outcome: Annotated[
        str, Option("--outcome", metavar="COLUMN", help="The column that says whether the run succeeded.")
    ],
    outcome_run: Annotated[
        str, Option("--outcome-run", metavar="COLUMN", help="The column of the outcomes that names the run.")
    ] = "run_id",
    sweep: Annotated[
        list[str] | None,
        Option(
            "--sweep",
            metavar="NAME=V,...",
            help="Try these values of a setting of the profile, such as divergence.copies=3,4. Repeatable: "
            "all combinations.",
        ),
    ] = None,
    end_at: Annotated[
        str, Option("--end-at", type=WordChoice(_ENDINGS), help="The mildest verdict that ends a run.")
    ] = _ENDINGS[0],
    lose_at_most: Annotated[
        str | None,
        Option(
            "--lose-at-most",
            metavar="P",
            help="Name the setting that saves most and surely loses no more successes, such as 2%.",
        ),
    ] = None,
    output: Output = None,
    jobs: Jobs = None,
    run_timeout: RunTimeout = 300.0,
    rows: Rows = False,
    row_map: RowMapName = None,
    run: RunColumn = None,
    order: OrderColumn = None,
    as_json: AsJson = False,
) -> None:
    """Measure what ending runs at their verdicts would have saved, and which successes it would have cost.

    Of traces: by verdict, and under other settings, each with intervals; without --sweep, those that matter.
    --output writes the profile that --lose-at-most names. Of results of `archive check`: by kind of finding.
    """
    from ebbtide.batch.sweep.ended_runs import RunOutcomes
    from ebbtide.cli.archive.archive_sweep import SweepRequest, are_results, calibrate_results, share_of

    _refuse_columns(rows=rows, row_map=row_map, run=run, order=order)
    if output is not None and lose_at_most is None:
        raise ConfigError("--output writes the setting that --lose-at-most names: say that, too")
    share = None if lose_at_most is None else share_of(lose_at_most)
    results = [] if rows else [source for source in sources if are_results(source)]
    if results and len(results) < len(sources):
        raise ConfigError(f"{results[0]} holds results, and other sources are traces: name one kind")
    if results and (sweep or share is not None):
        raise ConfigError(f"{results[0]} was judged already: to try other settings, name the traces")
    known_outcomes = RunOutcomes.load(outcomes, outcome_run, outcome)
    if results:
        calibrate_results([Path(source) for source in results], known_outcomes, as_json=as_json)
        return
    request = SweepRequest(
        sources=sources,
        options=options,
        outcomes=known_outcomes,
        sweeps=sweep or (),
        end_at=Action(end_at),
        lose_at_most=share,
        output=output,
        jobs=jobs,
        run_timeout=run_timeout or None,
    )
    raise SystemExit(
        request.of_rows(row_map, run, order, as_json=as_json) if rows else request.of_files(as_json=as_json)
    )


def _refuse_columns(*, rows: bool, **columns: str | None) -> None:
    if not rows and any(columns.values()):
        raise ConfigError("--map, --run and --order are about tables: say --rows, too")
