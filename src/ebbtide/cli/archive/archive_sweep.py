"""`ebbtide archive calibrate` of traces: what other settings would have saved and cost."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
from ebbtide.batch.sweep.ended_runs import ENDINGS, EndedRuns, RunOutcomes
from ebbtide.batch.sweep.swept_settings import SweptSetting, default_settings, named_settings
from ebbtide.batch.sweep.verdict_outcomes import VerdictLine, ended_by_results
from ebbtide.batch.tables.row_map import RowMap
from ebbtide.batch.tables.table_rows import open_table
from ebbtide.cli.archive.archive_check import ended_table, print_bad_runs
from ebbtide.cli.exits import Exit
from ebbtide.cli.terminal import (
    Line,
    plain,
    print_json,
    print_line,
    print_lines,
    progress_bar,
    terminal_width,
    write_file,
)
from ebbtide.codec import to_wire
from ebbtide.convergence.calibration.profile_file import profile_toml
from ebbtide.errors import ConfigError
from ebbtide.report.plurals import count
from ebbtide.report.wording import money
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions

_ENDED_BY: Final[Mapping[Action, str]] = {
    Action.STOP: "stop",
    Action.ESCALATE: "escalate or stop",
    Action.FINALIZE: "finalize or stricter",
    Action.NUDGE: "nudge or stricter",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRequest:
    """What is to be tried.

    Args:
        sources: Files, folders, patterns and URLs; or tables.
        options: By what the runs are judged, but for what is swept.
        outcomes: How they came out.
        sweeps: Settings and their values; empty sweeps those that matter, one at a time.
        end_at: The mildest verdict that ends a run.
        lose_at_most: Share of the successes that the best setting may lose; None looks for none.
        output: The file for its profile; None writes none.
        jobs: Processes; None takes one a core where they are worth it.
        run_timeout: Seconds that a run may take under all settings; None does not bound it.
    """

    sources: Sequence[str]
    options: RunOptions
    outcomes: RunOutcomes
    sweeps: Sequence[str]
    end_at: Action
    lose_at_most: float | None
    output: Path | None
    jobs: int | None
    run_timeout: float | None

    def of_files(self, *, as_json: bool) -> Exit:
        """Sweep over the runs in files, and say what came of it.

        Raises:
            EbbtideError: A setting or a file cannot be used, or there is an outcome for none of the runs.
        """
        start = time.monotonic()
        counter, task = self._parts()
        files = files_at(self.sources)
        with progress_bar("judging", len(files)) as advance:
            sweep = sweep_files(files, counter, task, jobs=self.jobs, progress=advance)
        return self._say(sweep, time.monotonic() - start, as_json=as_json)

    def of_rows(self, row_map: str | None, run: str | None, order: str | None, *, as_json: bool) -> Exit:
        """The same of runs in the rows of a table; the arguments are those of `ArchiveCheck.of_rows`.

        Raises:
            EbbtideError: As for `of_files`, or the table is not what the map says.
        """
        start = time.monotonic()
        counter, task = self._parts()
        columns = (RowMap() if row_map is None else RowMap.load(row_map)).by(run, order)
        with open_table(self.sources, columns) as table, progress_bar("judging", None) as advance:
            sweep = sweep_rows(table, counter, task, jobs=self.jobs, progress=advance)
        return self._say(sweep, time.monotonic() - start, as_json=as_json)

    def _parts(self) -> tuple[SweepCounter, SweepTask]:
        options = self.options
        settings = named_settings(options, self.sweeps) if self.sweeps else default_settings(options)
        if self.output is not None and any(setting.options.limits != options.limits for setting in settings):
            raise ConfigError(
                "--output writes a profile, and limits are no part of it: sweep them by themselves"
            )
        task = SweepTask(
            options=tuple(setting.options for setting in settings), most_seconds=self.run_timeout
        )
        return SweepCounter(settings=settings, outcomes=self.outcomes), task

    def _say(self, sweep: ArchiveSweep, seconds: float, *, as_json: bool) -> Exit:
        share = self.lose_at_most
        best = None if share is None else best_line(sweep, self.end_at, share)
        if as_json:
            wire = {"schema": 1, **_wire(sweep), "end_at": self.end_at.value, "lose_at_most": share}
            print_json(
                {**wire, "best": None if best is None else _setting(best), "seconds": round(seconds, 3)}
            )
        else:
            self._print(sweep)
            if share is not None:
                sentence = Line.safe(_choice(sweep, best, self.end_at, share))
                print_lines([Line(), *sentence.wrap(terminal_width())])
        if self.output is not None:
            if best is None or not best.setting.values:
                print(f"{plain(str(self.output))} not written: no better setting was found", file=sys.stderr)
                return Exit.BAD_INPUT
            remarks = [
                f"Chosen by ebbtide archive calibrate: {best.setting.words}.",
                _choice(sweep, best, self.end_at, share or 0.0),
                "This holds for runs like these.",
            ]
            write_file(self.output, profile_toml(best.setting.options.profile, remarks))
        return Exit.PARTLY if sweep.bad_runs else Exit.DONE

    def _print(self, sweep: ArchiveSweep) -> None:
        print_line(
            f"{count(sweep.runs, 'run')} with an outcome: {sweep.successes:,} succeeded, "
            f"{sweep.runs - sweep.successes:,} failed; the cost is known of {sweep.priced:,}"
        )
        if sweep.without_outcome:
            print_line(f"{sweep.without_outcome:,} more without an outcome: left out")
        if sweep.without_run:
            print_line(f"{count(sweep.without_run, 'outcome')} without a run here")
        print_bad_runs(sweep.statuses, sweep.bad_runs)
        current, *others = sweep.lines
        place = ENDINGS.index(self.end_at)
        different = [line for line in others if line.ended[place] != current.ended[place]]
        print_lines(
            ended_table(
                [
                    f"Ended by the profile {self.options.profile.name}, as it is",
                    *((_ENDED_BY[ended.action], ended) for ended in reversed(current.ended)),
                    f"Ended by {_ENDED_BY[self.end_at]}, with other settings",
                    *((line.setting.words, line.ended[place]) for line in (current, *different)),
                ],
                is_priced=sweep.priced > 0,
            )
        )
        if len(different) < len(others):
            same = [line.setting for line in others if line not in different]
            print_lines([Line(), *Line.safe(f"No difference: {_listed(same)}.").wrap(terminal_width())])


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
        "bad_runs": [run._asdict() for run in sweep.bad_runs],
        "lines": [{**_setting(line), **to_wire(ended)} for line in sweep.lines for ended in line.ended],
    }


def _setting(line: SweptLine) -> dict[str, object]:
    return {"setting": dict(line.setting.values), "is_current": not line.setting.values}


def _choice(sweep: ArchiveSweep, best: SweptLine | None, end_at: Action, share: float) -> str:
    """Which setting saves most, in a sentence."""
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


def share_of(text: str) -> float:
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


def are_results(source: str) -> bool:
    """Whether a source is a file of results, or a folder of such files as Spark writes them."""
    path = Path(source)
    return "://" not in source and (path.suffix == ".parquet" or any(path.glob("*.parquet")))


def calibrate_results(results: Sequence[Path], outcomes: RunOutcomes, *, as_json: bool) -> None:
    """Print what the verdicts in files of results would have saved, and what they would have cost.

    Args:
        results: Files of results, one a setting.
        outcomes: How the runs came out.
        as_json: Print JSON.

    Raises:
        ConfigError: A file cannot be used.
    """
    lines = {path: ended_by_results(path, outcomes) for path in results}
    if as_json:
        wire = [
            {"results": line.results, "kind": line.kind, **to_wire(line.ended)}
            for of_file in lines.values()
            for line in of_file
        ]
        print_json({"schema": 1, "outcomes": len(outcomes.by_run), "lines": wire})
        return
    for path, of_file in lines.items():
        rows: list[tuple[str, EndedRuns] | str] = [
            str(path),
            *((_about(line), line.ended) for line in of_file),
        ]
        print_lines(
            ended_table(rows, is_priced=any(line.ended.saved_usd is not None for line in of_file))[1:]
        )


def _about(line: VerdictLine) -> str:
    level = "stop" if line.ended.action == "stop" else "escalate or stop"
    return level if line.kind is None else f"{level}: {line.kind.replace('_', ' ')}"
