"""`ebbtide archive calibrate` of traces: what other settings would have saved and cost."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import click

from ebbtide.batch.archive.archive_files import files_at
from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.batch.sweep.archive_sweep import (
    ArchiveSweep,
    SweepCounter,
    SweepTask,
    SweptLine,
    best_line,
    sweep_files,
    sweep_rows,
)
from ebbtide.batch.sweep.ended_runs import ENDINGS, EndedRuns, VerdictLine, ended_by_results
from ebbtide.batch.sweep.run_outcomes import EndingLine, RunOutcomes, endings_by_results, outcomes_in_git
from ebbtide.batch.sweep.swept_settings import SweptSetting, default_settings, named_settings
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.table_rows import open_table
from ebbtide.cli.archive.check import bad_run_lines
from ebbtide.cli.archive.sources import RunTimeout, Sources, with_columns
from ebbtide.cli.declaration import Command, Jobs, Option, Output, WordChoice
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.runs.options import with_archive_options
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line, plain, progress_bar, write_file
from ebbtide.codec import to_wire
from ebbtide.convergence.calibration.profile_file import profile_toml
from ebbtide.errors import ConfigError
from ebbtide.report.plurals import count
from ebbtide.report.wording import money
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions

_ENDINGS = ("stop", "escalate", "finalize", "nudge")
_ENDED_BY: Final[Mapping[Action, str]] = {
    Action.STOP: "stop",
    Action.ESCALATE: "escalate or stop",
    Action.FINALIZE: "finalize or stricter",
    Action.NUDGE: "nudge or stricter",
}


@click.command(
    cls=Command,
    exits={
        Exit.BAD_INPUT: "wrong usage, a file that cannot be used, or no better setting to write",
        Exit.PARTLY: "some runs could not be checked: they are listed",
    },
)
@with_archive_options
@with_columns
def calibrate(
    columns: RowMap | None,
    options: RunOptions,
    sources: Sources,
    outcomes: Annotated[
        Path | None,
        Option(
            "--outcomes",
            metavar="FILE",
            help="Table of run outcomes: Parquet, CSV or JSON. Results of `archive check --repo` need "
            "none: their outcome is landed or reverted.",
        ),
    ] = None,
    outcome: Annotated[
        str | None,
        Option("--outcome", metavar="COLUMN", help="Column of the outcomes that records success."),
    ] = None,
    outcome_run: Annotated[
        str, Option("--outcome-run", metavar="COLUMN", help="Column of the outcomes that names the run.")
    ] = "run_id",
    sweep: Annotated[
        list[str] | None,
        Option(
            "--sweep",
            metavar="NAME=V,...",
            help="Try these values of a profile setting, such as divergence.copies=3,4. Repeatable; all "
            "combinations are tried.",
        ),
    ] = None,
    end_at: Annotated[
        str, Option("--end-at", type=WordChoice(_ENDINGS), help="Mildest verdict that ends a run.")
    ] = _ENDINGS[0],
    lose_at_most: Annotated[
        str | None,
        Option(
            "--lose-at-most",
            metavar="P",
            help="Select the setting that saves most and loses at most this share of successes, such as 2%.",
        ),
    ] = None,
    output: Output = None,
    jobs: Jobs = None,
    run_timeout: RunTimeout = 300.0,
) -> Result:
    """Measure what stopping runs at their verdicts would have saved.

    The table also shows the successes that this would have cost, with intervals. Traces are also judged under
    other settings: those of --sweep, or by default the settings that matter most. --output writes the profile
    that --lose-at-most selects. Results of `archive check` are listed by kind of finding, and with --repo
    also by the final messages of the runs and the fates of their changes.
    """
    if output is not None and lose_at_most is None:
        raise ConfigError("--output needs --lose-at-most, which selects the setting to write")
    share = None if lose_at_most is None else _share_of(lose_at_most)
    results = [] if columns is not None else [source for source in sources if _are_results(source)]
    if results and len(results) < len(sources):
        raise ConfigError(f"{results[0]} contains results, and other sources are traces: name only one kind")
    if results and (sweep or share is not None):
        raise ConfigError(f"{results[0]} is already judged: to try other settings, name the traces")
    if (outcomes is None) is not (outcome is None):
        raise ConfigError("--outcomes FILE and --outcome COLUMN go together: name both")
    known_outcomes = (
        None if outcomes is None or outcome is None else RunOutcomes.load(outcomes, outcome_run, outcome)
    )
    if results:
        return _of_results([Path(source) for source in results], known_outcomes)
    if known_outcomes is None:
        raise ConfigError("traces need --outcomes FILE, the table of run outcomes")
    start = time.monotonic()
    settings = named_settings(options, sweep) if sweep else default_settings(options)
    if output is not None and any(setting.options.limits != options.limits for setting in settings):
        raise ConfigError(
            "--output writes a profile, which cannot contain limits: sweep limits without --output"
        )
    counter = SweepCounter(settings=settings, outcomes=known_outcomes)
    task = SweepTask(options=tuple(setting.options for setting in settings), most_seconds=run_timeout or None)
    if columns is None:
        files = files_at(sources)
        with progress_bar("judging", len(files)) as advance:
            swept = sweep_files(files, counter, task, jobs=jobs, progress=advance)
    else:
        with open_table(sources, columns) as table, progress_bar("judging", None) as advance:
            swept = sweep_rows(table, counter, task, jobs=jobs, progress=advance)
    ends_at = Action(end_at)
    best = None if share is None else best_line(swept, ends_at, share)
    seconds = round(time.monotonic() - start, 3)
    end = Exit.PARTLY if swept.bad_runs else Exit.DONE
    if output is not None:
        if best is None or not best.setting.values:
            print(f"{plain(str(output))} not written: no better setting was found", file=sys.stderr)
            end = Exit.BAD_INPUT
        else:
            remarks = [
                f"Chosen by ebbtide archive calibrate: {best.setting.words}.",
                _choice(swept, best, ends_at, share or 0.0),
                "This holds for runs like these.",
            ]
            write_file(output, profile_toml(best.setting.options.profile, remarks))

    def wire() -> dict[str, object]:
        setting = None if best is None else _setting(best)
        wanted = {"end_at": end_at, "lose_at_most": share, "best": setting, "seconds": seconds}
        return {"schema": 1, **_wire(swept), **wanted}

    def text(width: int) -> Iterator[Line]:
        yield from _lines(swept, options.profile.name, ends_at, width)
        if share is not None:
            yield Line()
            yield from Line.safe(_choice(swept, best, ends_at, share)).wrap(width)

    return Result(wire, text, end)


def _lines(sweep: ArchiveSweep, profile: str, end_at: Action, width: int) -> Iterator[Line]:
    yield Line(
        f"{count(sweep.runs, 'run')} with an outcome: {sweep.successes:,} succeeded, "
        f"{sweep.runs - sweep.successes:,} failed; the cost of {sweep.priced:,} is known"
    )
    if sweep.without_outcome:
        yield Line(f"{sweep.without_outcome:,} more without an outcome were left out")
    if sweep.without_run:
        yield Line(f"{count(sweep.without_run, 'outcome')} without a run here")
    yield from bad_run_lines(sweep.statuses, sweep.bad_runs)
    current, *others = sweep.lines
    place = ENDINGS.index(end_at)
    different = [line for line in others if line.ended[place] != current.ended[place]]
    yield from _ended_table(
        [
            f"Ended by the profile {profile}, as it is",
            *((_ENDED_BY[ended.action], ended) for ended in reversed(current.ended)),
            f"Ended by {_ENDED_BY[end_at]}, with other settings",
            *((line.setting.words, line.ended[place]) for line in (current, *different)),
        ],
        width,
        is_priced=sweep.priced > 0,
    )
    if len(different) < len(others):
        same = [line.setting for line in others if line not in different]
        yield Line()
        yield from Line.safe(f"No difference: {_listed(same)}.").wrap(width)


def _listed(settings: Sequence[SweptSetting]) -> str:
    """Settings in words, those of one name together."""
    values: dict[str, list[str]] = {}
    for setting in settings:
        name, _, rest = setting.words.partition(" = ")
        values.setdefault(name if len(setting.values) == 1 else setting.words, []).append(rest)
    return "; ".join(
        name if " = " in name else f"{name} = {', '.join(rest)}" for name, rest in values.items()
    )


def _wire(sweep: ArchiveSweep) -> dict[str, object]:
    return {
        "runs": sweep.runs,
        "successes": sweep.successes,
        "priced": sweep.priced,
        "without_outcome": sweep.without_outcome,
        "without_run": sweep.without_run,
        **{status.value: sweep.statuses[status] for status in ResultStatus if status != ResultStatus.CHECKED},
        "bad_runs": [run.to_dict() for run in sweep.bad_runs],
        "lines": [{**_setting(line), **to_wire(ended)} for line in sweep.lines for ended in line.ended],
    }


def _setting(line: SweptLine) -> dict[str, object]:
    return {"setting": dict(line.setting.values), "is_current": not line.setting.values}


def _choice(sweep: ArchiveSweep, best: SweptLine | None, end_at: Action, share: float) -> str:
    """The setting that saves most, in a sentence."""
    place = ENDINGS.index(end_at)
    bound = f"at most {100 * share:g}% of the successes (the upper end of the interval)"
    if best is None:
        least = min(line.ended[place].lost_high for line in sweep.lines)
        if least <= share:
            return f"No setting that loses {bound} saves anything."
        return (
            f"No setting is sure to lose {bound}: the lowest upper end is {least:.1%}, of "
            f"{count(sweep.successes, 'run')} that succeeded."
        )
    ended = best.ended[place]
    calls = count(ended.saved_calls, "call")
    saved = calls if ended.saved_usd is None else f"{money(ended.saved_usd)}, {calls}"
    return (
        f"Of the settings that lose {bound}, {best.setting.words} saves most: {saved} of "
        f"{count(ended.failed, 'run')} that failed. It loses {ended.lost_successes:,} of "
        f"{count(sweep.successes, 'success', 'successes')}."
    )


def _share_of(text: str) -> float:
    """A share, such as ``2%`` or ``0.02``.

    Raises:
        ConfigError: It is none.
    """
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise ConfigError(f"--lose-at-most {text!r:.40}: expected a share, such as 2% or 0.02")
    return share


def _are_results(source: str) -> bool:
    """True for a file of results, or a folder of such files as Spark writes them."""
    path = Path(source)
    return "://" not in source and (path.suffix == ".parquet" or any(path.glob("*.parquet")))


def _of_results(results: Sequence[Path], outcomes: RunOutcomes | None) -> Result:
    """Returns what verdicts would have saved and cost, file by file; by git where no outcomes are given."""
    endings = {path: endings_by_results(path) for path in results}
    known_outcomes = outcomes_in_git(endings) if outcomes is None else outcomes
    lines = {path: ended_by_results(path, known_outcomes) for path in results}

    def wire() -> dict[str, object]:
        rows = [
            {"results": line.results, "kind": line.kind, **to_wire(line.ended)}
            for of_file in lines.values()
            for line in of_file
        ]
        words = [
            {"results": str(path), **to_wire(line), "right": line.right.to_dict()}
            for path, of_file in endings.items()
            for line in of_file.lines
        ]
        return {"schema": 1, "outcomes": len(known_outcomes.by_run), "lines": rows, "endings": words}

    def text(width: int) -> Iterator[Line]:
        for path, of_file in lines.items():
            rows = [(_about(line), line.ended) for line in of_file]
            is_priced = any(ended.saved_usd is not None for _, ended in rows)
            yield from _ended_table([str(path), *rows], width, is_priced=is_priced)[1:]
            yield from _endings_table(endings[path].lines, width)

    return Result(wire, text)


def _endings_table(lines: Sequence[EndingLine], width: int) -> Iterator[Line]:
    """The words in which runs ended, with the fates of their changes; nothing where git was not asked."""
    if not lines:
        return
    yield Line()
    yield Line("Endings, against git", "bold")
    headers = ("landed", "reverted", "right", "95%", "not settled", "ending")
    table = Table(*headers, right=range(len(headers) - 1))
    for line in lines:
        low, high = line.right.interval
        table.add(
            f"{line.landed:,}",
            f"{line.reverted:,}",
            "" if line.right.value is None else _percent(line.right.value),
            f"{_percent(low)} to {_percent(high)}" if line.right.total else "",
            f"{line.unsettled:,}",
            line.headline,
        )
    yield from table.lines(width)


def _about(line: VerdictLine) -> str:
    level = "stop" if line.ended.action == "stop" else "escalate or stop"
    return level if line.kind is None else f"{level}: {line.kind.replace('_', ' ')}"


_COUNTS = ("runs", "failed", "right", "95%", "successes lost", "calls saved")
_MONEY = ("saved", "95%", "lost")
_ENDED_WIDTH = 24  # of the last column


def _ended_table(rows: Sequence[tuple[str, EndedRuns] | str], width: int, *, is_priced: bool) -> list[Line]:
    """Returns the table.

    Args:
        rows: By what runs were ended, and which; a text alone is the heading of the rows behind it.
        width: Columns of the terminal.
        is_priced: Whether any cost is known: else there is no column of money.
    """
    headers = (*_COUNTS, *(_MONEY if is_priced else ()), "by")
    table = Table(*headers, right=range(len(headers) - 1), least=_ENDED_WIDTH)
    for row in rows:
        if not isinstance(row, str):
            table.add(*_cells(*row, is_priced=is_priced))
    header, *drawn = table.parts(width)
    following = iter(drawn)
    lines: list[Line] = []
    for row in rows:
        lines += [Line(), Line.safe(row, "bold"), *header] if isinstance(row, str) else next(following)
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
