"""`ebbtide archive check`: many runs, checked into one file."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import click

from ebbtide import __version__
from ebbtide.batch.archive.archive_files import files_at
from ebbtide.batch.check_archive import ArchiveTask, check_files, check_rows
from ebbtide.batch.results.archive_counts import ArchiveCounts, BadRun
from ebbtide.batch.results.arrow_types import arrow_library
from ebbtide.batch.results.run_result import RESULT_VERSION, ResultStatus
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.table_rows import open_table
from ebbtide.cli.archive.sources import RunTimeout, Sources, with_columns
from ebbtide.cli.declaration import OUTPUT, Command, Jobs, Option, Repo
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.runs.options import with_archive_options
from ebbtide.cli.settings.options import current_settings
from ebbtide.cli.terminal import Line, progress_bar
from ebbtide.errors import ConfigError
from ebbtide.report.plurals import count
from ebbtide.shipped.git import Repository
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.text.redaction import redact

_IRRELEVANT = frozenset(("sources", "output", "jobs", "as_json", "repo"))  # to what a run comes to


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "every run was checked",
        Exit.BAD_INPUT: "wrong usage, or there is nothing to check",
        Exit.PARTLY: "some runs could not be checked: the results say where and why",
    },
)
@with_archive_options
@with_columns
def check(
    columns: RowMap | None,
    options: RunOptions,
    sources: Sources,
    output: Annotated[Path, Option("--output", "--out", "-o", metavar="FILE", help=OUTPUT)],
    repo: Repo = None,
    jobs: Jobs = None,
    run_timeout: RunTimeout = 300.0,
) -> Result:
    """Check all runs of an archive into one Parquet file.

    The file has one row per run; docs/archives.md lists the columns. After an interruption, the same command
    continues where it was.

    With --rows the sources are tables: Parquet, CSV or JSON lines, FILE.db#TABLE for SQLite, or
    postgresql://...#TABLE. The rows of a run may be anywhere in a table.
    """
    arrow_library()
    if repo is not None:
        if columns is not None:
            raise ConfigError("--repo is about files of sessions: leave out --rows")
        Repository(repo)  # refused before the work, not after it
    start = time.monotonic()
    task = ArchiveTask(
        output=output,
        options=options,
        settings=_settings_mark(),
        most_seconds=run_timeout or None,
        jobs=jobs,
        repository=repo,
    )
    if columns is None:
        files = files_at(sources)
        with progress_bar("checking", len(files)) as advance:
            counts, resumed = check_files(files, task, advance)
    else:
        with progress_bar("checking", None) as advance, open_table(sources, columns) as table:
            counts, resumed = check_rows(table, task, advance)
    wire = _summary(counts, output, resumed=resumed, seconds=time.monotonic() - start)
    lines = _lines(counts, output, resumed=resumed)
    return Result(lambda: wire, lambda _: lines, Exit.PARTLY if counts.bad_runs else Exit.DONE)


def _settings_mark() -> str:
    """A short text for the options by which runs are judged: equal for equal options and files of theirs."""
    context = click.get_current_context()
    values = {name: value for name, value in context.params.items() if name not in _IRRELEVANT}
    digest = hashlib.sha256(f"{__version__} {RESULT_VERSION} {json.dumps(values, default=str)}".encode())
    settings = current_settings()
    files = [value for value in values.values() if isinstance(value, str)]
    files += [] if settings is None else [str(settings.file)]
    for path in map(Path, files):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _summary(counts: ArchiveCounts, output: Path, *, resumed: int, seconds: float) -> dict[str, object]:
    return {
        "schema": 1,
        "output": str(output),
        "runs": counts.total,
        "resumed": resumed,
        **{status.value: counts.runs[status] for status in ResultStatus},
        "events": counts.events,
        "actions": {action.value: counts.actions[action] for action in Action},
        "seconds": round(seconds, 3),
        "bad_runs": [run.to_dict() for run in counts.bad_runs],
    }


def _lines(counts: ArchiveCounts, output: Path, *, resumed: int) -> Iterator[Line]:
    verdicts = ", ".join(f"{counts.actions[action]:,} {action.value}" for action in Action)
    yield Line.safe(f"{count(counts.runs[ResultStatus.CHECKED], 'run')} checked: {verdicts}")
    if resumed:
        yield Line.safe(f"{resumed:,} of them were already checked")
    yield from bad_run_lines(counts.runs, counts.bad_runs)
    yield Line.safe(f"wrote {output}; `ebbtide archive report {output}` shows the results")


_BAD_RUNS_SHOWN = 10


def bad_run_lines(statuses: Mapping[str, int], bad_runs: Sequence[BadRun]) -> Iterator[Line]:
    """Yields the first runs that could not be checked, and why, below the numbers by `ResultStatus`."""
    if statuses.get(ResultStatus.NO_TRACE):
        yield Line.safe(f"{count(statuses[ResultStatus.NO_TRACE], 'file')} that are not traces")
    bad = statuses.get(ResultStatus.UNREADABLE, 0) + statuses.get(ResultStatus.OUT_OF_TIME, 0)
    if bad:
        are_runs = all(run.run_id is not None for run in bad_runs)
        what = count(bad, "run") if are_runs else f"{bad:,} runs, files or lines"
        yield Line.safe(f"{what} could not be checked:")
    for run in bad_runs[:_BAD_RUNS_SHOWN]:
        place = "" if run.line is None else f"line {run.line}: "
        yield Line.safe(f"{run.run_id or run.source}: {place}{redact(run.error)}", indent=2)
    if bad > _BAD_RUNS_SHOWN:
        yield Line(f"  and {bad - _BAD_RUNS_SHOWN:,} more")
