"""An archive judged under many settings at once: each run is read once, and every setting has a supervisor.

What is kept of a run is a few numbers a setting, where that would have ended it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from ebbtide.batch.archive.archive_files import ArchiveFile
from ebbtide.batch.archive.archive_pool import Chunk, RunChunk, check_chunks
from ebbtide.batch.archive.checking_runs import guarded
from ebbtide.batch.check_archive import RUNS_WORTH_A_PROCESS, WORTH_A_PROCESS, file_chunks
from ebbtide.batch.results.archive_counts import BadRun
from ebbtide.batch.results.archived_run import ArchivedRun
from ebbtide.batch.results.run_result import ResultStatus, RunResult
from ebbtide.batch.sweep.ended_runs import ENDINGS, EndedCounter, EndedRuns, ending_step
from ebbtide.batch.sweep.run_outcomes import OutcomeCounter, RunOutcomes
from ebbtide.batch.sweep.swept_settings import SweptSetting
from ebbtide.batch.tables.table_rows import RunTable
from ebbtide.budget.tally import usd
from ebbtide.processes import worthwhile
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.ladder_steps import LadderSteps
from ebbtide.supervision.summary.run_summary import LadderStep
from ebbtide.supervision.supervisor import Supervisor

_LISTED: Final = 100  # runs that could not be judged


class JudgedRun(NamedTuple):
    """A run under each setting.

    Args:
        cost_usd: What it cost; None where not known.
        steps: Where it came to each step of the ladder, by setting.
    """

    run_id: str
    cost_usd: float | None
    steps: tuple[tuple[LadderStep, ...], ...]


class JudgedChunk(NamedTuple):
    """The runs of a chunk, and those that could not be judged."""

    runs: list[JudgedRun]
    bad_runs: list[RunResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTask:
    """Judges chunks under all settings, in whichever process.

    Args:
        options: By what runs are judged, one a setting.
        most_seconds: How long a run may take, all settings together; None does not bound it.
    """

    options: tuple[RunOptions, ...]
    most_seconds: float | None = None

    def check(self, chunk: Chunk, _path: str = "") -> JudgedChunk:
        """Checks the runs of a part, as any `ChunkTask`."""
        judged = JudgedChunk([], [])
        redacts = self.options[0].redact
        for run in chunk.runs():
            result = guarded(run, self._judge, redacts=redacts, most_seconds=self.most_seconds)
            if isinstance(result, RunResult):
                judged.bad_runs.append(result)
            else:
                judged.runs.append(result)
        return judged

    def _judge(self, run: ArchivedRun) -> JudgedRun:
        supervisors = [Supervisor(**options.of_supervisor) for options in self.options]
        judges = [(supervisor, LadderSteps(supervisor.tally)) for supervisor in supervisors]
        for event in run.read():
            for supervisor, steps in judges:
                verdict = supervisor.record(event)
                if verdict.rank > steps.rank:
                    steps.add(verdict)
        tally = supervisors[0].tally
        # What comes to light only when nothing more comes would have ended nothing.
        return JudgedRun(run.run_id or "", usd(tally.cost), tuple(steps.listed() for _, steps in judges))


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptLine:
    """The runs that a setting would have ended.

    Args:
        ended: By the mildest verdict that ends a run, in the order of `ENDINGS`.
    """

    setting: SweptSetting
    ended: tuple[EndedRuns, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSweep:
    """The result of a sweep over an archive.

    Args:
        lines: One a setting, the profile as it is first.
        runs: Runs of known outcome that were judged.
        successes: Those of them that succeeded.
        priced: Those whose cost is known.
        without_outcome: Runs that nobody knows the outcome of.
        without_run: Outcomes of runs that are not in the archive.
        statuses: Runs that could not be judged, by `ResultStatus`.
        bad_runs: The first hundred of them by name, but for what is no trace.
    """

    lines: tuple[SweptLine, ...]
    runs: int
    successes: int
    priced: int
    without_outcome: int
    without_run: int
    statuses: Counter[str]
    bad_runs: tuple[BadRun, ...]


@dataclass(slots=True)
class SweepCounter:
    """Counts judged runs, in any order.

    Args:
        settings: Those under which they were judged.
    """

    settings: Sequence[SweptSetting]
    outcomes: RunOutcomes
    without_outcome: int = 0
    _known: OutcomeCounter = field(init=False)
    _statuses: Counter[str] = field(default_factory=Counter)
    _bad_runs: list[BadRun] = field(default_factory=list)
    _counters: list[list[EndedCounter]] = field(init=False)

    def __post_init__(self) -> None:
        self._known = OutcomeCounter(self.outcomes)
        self._counters = [[EndedCounter(action) for action in ENDINGS] for _ in self.settings]

    def add(self, judged: JudgedChunk) -> int:
        """Count the runs of a chunk; how many there were.

        Raises:
            ConfigError: One outcome would be that of two runs.
        """
        for run in judged.runs:
            self._add_run(run)
        for result in judged.bad_runs:
            self._statuses[result.status] += 1
            if result.status is not ResultStatus.NO_TRACE:
                self._bad_runs.append(
                    BadRun(
                        run_id=result.run_id,
                        source=result.source,
                        status=result.status.value,
                        error=result.error or "",
                        line=result.error_line,
                    )
                )
        return len(judged.runs) + len(judged.bad_runs)

    def _add_run(self, run: JudgedRun) -> None:
        succeeded = self._known.add(run.run_id, run.cost_usd)
        if succeeded is None:
            self.without_outcome += 1
            return
        for steps, counters in zip(run.steps, self._counters, strict=True):
            for counter in counters:
                step = ending_step(steps, counter.action)
                if step is not None:
                    counter.add(step, run.cost_usd, succeeded=succeeded)

    def result(self) -> ArchiveSweep:
        """Returns the result of the counts.

        Raises:
            ConfigError: There is an outcome for none of the runs.
        """
        known = self._known
        if not known.runs and not self._statuses:
            raise self.outcomes.none_of("the archive")
        lines = tuple(
            SweptLine(
                setting=setting,
                ended=tuple(
                    counter.result(known.successes, is_priced=known.priced > 0) for counter in counters
                ),
            )
            for setting, counters in zip(self.settings, self._counters, strict=True)
        )
        return ArchiveSweep(
            lines=lines,
            runs=len(known.runs),
            successes=known.successes,
            priced=known.priced,
            without_outcome=self.without_outcome,
            without_run=len(self.outcomes.by_run) - len(known.runs),
            statuses=self._statuses,
            bad_runs=tuple(
                sorted(self._bad_runs, key=lambda bad: (bad.run_id or "", bad.source, bad.error))[:_LISTED]
            ),
        )


def sweep_files(
    files: Sequence[ArchiveFile],
    counter: SweepCounter,
    task: SweepTask,
    *,
    jobs: int | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> ArchiveSweep:
    """Judge the runs in files of which an outcome is known; the others are not read.

    Args:
        jobs: Processes; None takes one a core where they are worth it.
        progress: Called with the number of runs that were gone through, again and again.

    Raises:
        ConfigError: There is an outcome for none of them, or one for two.
    """
    due = [file for file in files if counter.outcomes.name_of(file.run.run_id) is not None]
    counter.without_outcome = len(files) - len(due)
    progress(counter.without_outcome)
    size = sum(file.size for file in due) * len(task.options)
    jobs = jobs or worthwhile(size, WORTH_A_PROCESS)
    return _swept(file_chunks(due), counter, task, jobs, progress)


def sweep_rows(
    table: RunTable,
    counter: SweepCounter,
    task: SweepTask,
    *,
    jobs: int | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> ArchiveSweep:
    """As `sweep_files`, of the runs in the rows of a table; all are read."""
    size = table.size()
    jobs = jobs or worthwhile(size.runs * len(task.options), RUNS_WORTH_A_PROCESS)
    chunks = chain([RunChunk(size.refusals)], table.chunks(frozenset()))
    return _swept(chunks, counter, task, jobs, progress)


def _swept(
    chunks: Iterable[Chunk],
    counter: SweepCounter,
    task: SweepTask,
    jobs: int,
    progress: Callable[[int], object],
) -> ArchiveSweep:
    for judged in check_chunks(chunks, task, lambda: "", jobs=jobs):
        progress(counter.add(judged))
    return counter.result()


def best_line(sweep: ArchiveSweep, action: Action, lose_at_most: float) -> SweptLine | None:
    """The setting that saves most of those that lose few successes; of equals the first.

    Args:
        action: The mildest verdict that ends a run.
        lose_at_most: Share of the successes that may be lost: the upper end of its interval.

    Returns:
        The setting, by the money that it saves, or by the calls where no cost is known; None where all lose
        more, or none saves anything.
    """
    place = ENDINGS.index(action)

    def saved(line: SweptLine) -> float:
        ended = line.ended[place]
        return ended.saved_calls if ended.saved_usd is None else ended.saved_usd

    lines = [line for line in sweep.lines if line.ended[place].lost_high <= lose_at_most and saved(line) > 0]
    return max(lines, key=saved, default=None)
