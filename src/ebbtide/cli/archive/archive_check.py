"""`ebbtide archive check`: many runs, checked into one file."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ebbtide import __version__
from ebbtide.batch.archive.archive_files import files_at
from ebbtide.batch.check_archive import ArchiveTask, check_files, check_rows
from ebbtide.batch.results.archive_counts import ArchiveCounts
from ebbtide.batch.results.arrow_types import arrow_library
from ebbtide.batch.results.run_result import RESULT_VERSION, ResultStatus
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.table_rows import open_table
from ebbtide.cli.archive.bad_runs import print_bad_runs
from ebbtide.cli.exits import Exit
from ebbtide.cli.progress import progress_bar
from ebbtide.cli.settings.options import current_settings
from ebbtide.cli.terminal import print_json, print_line
from ebbtide.report.plurals import count
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions

_IRRELEVANT = frozenset(("sources", "output", "jobs", "as_json"))  # to what a run comes to


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveCheck:
    """What is to be checked.

    Args:
        sources: Files, folders, patterns and URLs; or tables.
        options: By what the runs are judged.
        output: The file of results.
        jobs: Processes; None takes one a core where they are worth it.
        run_timeout: Seconds that a run may take; None does not bound it.
    """

    sources: Sequence[str]
    options: RunOptions
    output: Path
    jobs: int | None
    run_timeout: float | None

    def of_files(self, *, as_json: bool) -> Exit:
        """Check the runs in files, and say what came of them.

        Raises:
            EbbtideError: There is nothing to check, or the results cannot be written.
        """
        arrow_library()
        start = time.monotonic()
        files = files_at(self.sources)
        with progress_bar("checking", len(files)) as advance:
            counts, resumed = check_files(files, self._task(), advance)
        return self._say(counts, resumed, time.monotonic() - start, as_json=as_json)

    def of_rows(self, row_map: str | None, run: str | None, order: str | None, *, as_json: bool) -> Exit:
        """The same of runs in the rows of a table.

        Args:
            row_map: What its columns are: a name or a file; None takes them by their names.
            run: The column that names the run; None takes that of the map.
            order: The column by which its rows are ordered; likewise.
            as_json: Print JSON.

        Raises:
            EbbtideError: As for `of_files`, or the table is not what the map says.
        """
        arrow_library()
        start = time.monotonic()
        columns = (RowMap() if row_map is None else RowMap.load(row_map)).by(run, order)
        with progress_bar("checking", None) as advance, open_table(self.sources, columns) as table:
            counts, resumed = check_rows(table, self._task(), advance)
        return self._say(counts, resumed, time.monotonic() - start, as_json=as_json)

    def _task(self) -> ArchiveTask:
        return ArchiveTask(
            output=self.output,
            options=self.options,
            settings=settings_mark(),
            most_seconds=self.run_timeout,
            jobs=self.jobs,
        )

    def _say(self, counts: ArchiveCounts, resumed: int, seconds: float, *, as_json: bool) -> Exit:
        if as_json:
            print_json(_summary(counts, self.output, resumed=resumed, seconds=seconds))
        else:
            _print(counts, self.output, resumed=resumed)
        return Exit.PARTLY if counts.bad_runs else Exit.DONE


def settings_mark() -> str:
    """What the runs are judged by, as a short text: equal for equal options and contents of their files."""
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
        "bad_runs": [run._asdict() for run in counts.bad_runs],
    }


def _print(counts: ArchiveCounts, output: Path, *, resumed: int) -> None:
    verdicts = ", ".join(f"{counts.actions[action]:,} {action.value}" for action in Action)
    print_line(f"{count(counts.runs[ResultStatus.CHECKED], 'run')} checked: {verdicts}")
    if resumed:
        print_line(f"{resumed:,} of them had been checked before")
    print_bad_runs(counts.runs, counts.bad_runs)
    print_line(f"{output}: what it says is shown by `ebbtide archive report {output}`")
