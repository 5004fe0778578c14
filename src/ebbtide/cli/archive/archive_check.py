"""`ebbtide archive check`: many runs, checked into one file."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ebbtide import __version__
from ebbtide.batch.archive.archive_files import files_at
from ebbtide.batch.archive.archive_summary import ArchiveSummary
from ebbtide.batch.archive.archive_words import ArchiveTable, sentences, tables
from ebbtide.batch.check_archive import ArchiveTask, check_files, check_rows
from ebbtide.batch.results.archive_counts import ArchiveCounts, BadRun
from ebbtide.batch.results.arrow_types import arrow_library
from ebbtide.batch.results.run_result import RESULT_VERSION, ResultStatus
from ebbtide.batch.sweep.ended_runs import EndedRuns
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.table_rows import open_table
from ebbtide.cli.exits import Exit
from ebbtide.cli.settings.options import current_settings
from ebbtide.cli.terminal import (
    Line,
    cell_width,
    columns,
    print_json,
    print_line,
    print_lines,
    progress_bar,
    terminal_width,
)
from ebbtide.errors import ConfigError
from ebbtide.report.plurals import count
from ebbtide.report.wording import money
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.text.redaction import redact

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


_SHOWN = 8  # rows of a table
_LEAST_WIDTH = 16  # of the last column


def report_archive(results: Path, *, html: Path | None, everything: bool, as_json: bool) -> None:
    """Print what a file of results says.

    Args:
        results: The file.
        html: Write the page into this file; None writes none.
        everything: Print all rows of all tables.
        as_json: Print JSON.

    Raises:
        ConfigError: The results cannot be read, or the page cannot be written.
    """
    summary = ArchiveSummary.load(results)
    if html is not None:
        from ebbtide.batch.archive.archive_page import archive_page

        try:
            html.write_text(archive_page(summary, results.name), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{html}: cannot be written: {error.strerror or error}") from error
    if as_json:
        print_json(summary.to_dict())
        return
    lines = [Line.safe(sentence) for sentence in sentences(summary)]
    for item in tables(summary):
        lines += [Line(), Line(item.title, "bold"), *_table(item, terminal_width(), everything=everything)]
    print_lines(lines)


def _table(table: ArchiveTable, width: int, *, everything: bool) -> list[Line]:
    visible = table.rows if everything else table.rows[:_SHOWN]
    # The name is what a row is about, and may be long: it comes last, where it is broken.
    order = [*range(1, len(table.headers)), 0] if table.headers[-1] != "why" else range(len(table.headers))
    rows = [[Line(table.headers[place], "dim") for place in order]]
    rows += [[Line.safe(row[place]) for place in order] for row in visible]
    widths = [max(cell_width(row[place].text) for row in rows) for place in range(len(order) - 1)]
    rest = max(_LEAST_WIDTH, width - sum(widths) - 2 * len(widths))
    right = [place for place, header in enumerate(order) if table.headers[header] not in table.words]
    lines = columns(rows, [*widths, rest], right=right)
    if len(visible) < len(table.rows):
        lines.append(Line(f"and {len(table.rows) - len(visible):,} more: --all", "dim"))
    return lines


_BAD_RUNS_SHOWN = 10


def print_bad_runs(statuses: Mapping[str, int], bad_runs: Sequence[BadRun]) -> None:
    """Say which runs could not be checked, and why.

    Args:
        statuses: How many came to what, by `ResultStatus`.
        bad_runs: The first of them.
    """
    if statuses.get(ResultStatus.NO_TRACE):
        print_line(f"{count(statuses[ResultStatus.NO_TRACE], 'file')} that are no traces")
    bad = statuses.get(ResultStatus.UNREADABLE, 0) + statuses.get(ResultStatus.OUT_OF_TIME, 0)
    if bad:
        are_runs = all(run.run_id is not None for run in bad_runs)
        what = count(bad, "run") if are_runs else f"{bad:,} runs, files or lines"
        print_line(f"{what} could not be checked:")
    for run in bad_runs[:_BAD_RUNS_SHOWN]:
        place = "" if run.line is None else f"line {run.line}: "
        print_line(f"  {run.run_id or run.source}: {place}{redact(run.error)}")
    if bad > _BAD_RUNS_SHOWN:
        print_line(f"  and {bad - _BAD_RUNS_SHOWN:,} more")


_COUNTS = ("runs", "failed", "right", "95%", "successes lost", "calls saved")
_MONEY = ("saved", "95%", "lost")
_ENDED_WIDTH = 24  # of the last column


def ended_table(rows: Sequence[tuple[str, EndedRuns] | str], *, is_priced: bool) -> list[Line]:
    """The table.

    Args:
        rows: By what runs were ended, and which; a text alone is the heading of the rows behind it.
        is_priced: Whether any cost is known: else there is no column of money.
    """
    header = [Line(name, "dim") for name in (*_COUNTS, *(_MONEY if is_priced else ()), "by")]
    cells = [None if isinstance(row, str) else _cells(*row, is_priced=is_priced) for row in rows]
    table = [header, *filter(None, cells)]
    widths = [max(cell_width(row[place].text) for row in table) for place in range(len(header) - 1)]
    widths.append(max(_ENDED_WIDTH, terminal_width() - sum(widths) - 2 * len(widths)))
    lines: list[Line] = []
    for row, line in zip(rows, cells, strict=True):
        if isinstance(row, str):
            lines += [Line(), Line.safe(row, "bold")]
        lines += columns([line or header], widths, right=range(len(header) - 1))
    return lines


def _cells(text: str, ended: EndedRuns, *, is_priced: bool) -> list[Line]:
    share = "" if ended.lost_share is None else f" ({ended.lost_low:.1%} to {ended.lost_high:.1%})"
    counts = [
        f"{ended.runs:,}",
        f"{ended.failed:,}",
        "" if ended.precision is None else _percent(ended.precision),
        f"{_percent(ended.precision_low)} to {_percent(ended.precision_high)}" if ended.runs else "",
        f"{ended.lost_successes:,}{share}",
        f"{ended.saved_calls:,}",
    ]
    amounts = [
        "" if ended.saved_usd is None else money(ended.saved_usd),
        "" if ended.saved_low is None else f"{money(ended.saved_low)} to {money(ended.saved_high)}",
        "" if ended.lost_usd is None else money(ended.lost_usd),
    ]
    return [*map(Line, counts + amounts * is_priced), Line.safe(text)]


def _percent(share: float) -> str:
    """A share that is neither none nor all does not read as if it were."""
    return f"{share:.1%}" if 0 < share < 0.005 or 0.995 <= share < 1 else f"{share:.0%}"
