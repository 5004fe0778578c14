"""Counts what ending runs at their verdicts would have saved, and the successes that it would have lost."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import mul
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from ebbtide.batch.results.arrow_types import arrow_library, parquet_library
from ebbtide.errors import ConfigError, error_text
from ebbtide.rate import Rate
from ebbtide.settings_file import meant
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.run_summary import LadderStep

if TYPE_CHECKING:
    import pyarrow as pa


#: What may end a run, the mildest first.
ENDINGS: Final = (Action.NUDGE, Action.FINALIZE, Action.ESCALATE, Action.STOP)

_REPLICATES: Final = 1_000
_DRAWS: Final = 1_000_000  # in all of them: of many runs the ends are steady sooner
_ENDS: Final = (0.025, 0.975)
_TIMES: Final = range(9)
_CHANCES: Final = [1 / math.factorial(times) for times in _TIMES]  # Poisson with mean 1, but for a factor


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRuns:
    """The runs of known outcome that would have been ended before their end. Intervals are of 95 %.

    Args:
        action: The mildest verdict that ends a run.
        runs: How many.
        failed: Those of them that failed: ending them was right.
        precision: Their share; None where no run would have been ended.
        precision_low: The lower end of its Wilson interval.
        precision_high: The upper end.
        lost_successes: Those that succeeded.
        lost_share: Of all that succeeded; None where none did.
        lost_low: The lower end of its Wilson interval.
        lost_high: The upper end.
        saved_calls: Calls of tools and models that the failed ones made after the verdict.
        saved_usd: What those cost; None where nobody knows of any run.
        saved_low: The lower end of its bootstrap interval, over runs; None where no failed run was ended.
        saved_high: The upper end.
        priced: Of the failed ones, those whose cost after the verdict is known.
        lost_usd: What the lost successes cost as a whole: to have them again costs about that.
    """

    action: Action
    runs: int
    failed: int
    precision: float | None
    precision_low: float
    precision_high: float
    lost_successes: int
    lost_share: float | None
    lost_low: float
    lost_high: float
    saved_calls: int
    saved_usd: float | None
    saved_low: float | None
    saved_high: float | None
    priced: int
    lost_usd: float | None


@dataclass(slots=True)
class EndedCounter:
    """Counts the runs that one verdict and anything stricter would have ended."""

    action: Action
    failed: int = 0
    lost_successes: int = 0
    saved_calls: int = 0
    saved: list[float] = field(default_factory=list)
    lost_costs: list[float] = field(default_factory=list)

    def add(self, step: LadderStep, cost_usd: float | None, *, succeeded: bool) -> None:
        """Count a run that came to the verdict at this step.

        Args:
            step: Where; as `ending_step` gives it.
            cost_usd: What the whole run cost; None where not known.
            succeeded: How it came out.
        """
        if succeeded:
            self.lost_successes += 1
            if cost_usd is not None:
                self.lost_costs.append(cost_usd)
            return
        self.failed += 1
        self.saved_calls += step.calls_after
        if step.usd_after is not None:
            self.saved.append(step.usd_after)

    def result(self, successes: int, *, is_priced: bool) -> EndedRuns:
        """Returns the rates and savings that the counts give.

        Args:
            successes: All runs that succeeded, ended or not.
            is_priced: Whether the cost of any run is known: then nothing ended saved 0 dollars.
        """
        right = Rate(hits=self.failed, total=self.failed + self.lost_successes)
        losses = Rate(hits=self.lost_successes, total=successes)
        is_known = is_priced and (bool(self.saved) or not self.failed)
        low, high = bootstrap(self.saved) if self.saved else (None, None)
        return EndedRuns(
            action=self.action,
            runs=right.total,
            failed=self.failed,
            precision=right.value,
            precision_low=right.interval[0],
            precision_high=right.interval[1],
            lost_successes=self.lost_successes,
            lost_share=losses.value,
            lost_low=losses.interval[0],
            lost_high=losses.interval[1],
            saved_calls=self.saved_calls,
            saved_usd=math.fsum(self.saved) if is_known else None,
            saved_low=low,
            saved_high=high,
            priced=len(self.saved),
            lost_usd=math.fsum(self.lost_costs)
            if is_priced and len(self.lost_costs) == self.lost_successes
            else None,
        )


def ending_step(steps: Iterable[LadderStep], action: Action) -> LadderStep | None:
    """Returns the step at which this verdict or a stricter one ends a run; None if it was over before."""
    step = next((step for step in steps if Action(step.action).rank >= action.rank), None)
    return step if step is not None and step.events_after else None


def bootstrap(amounts: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a sum over runs, had other runs of the same kind been there; always the same.

    Args:
        amounts: What each run adds, in any order, one or more. Runs that add nothing need not be there.

    Source: the Poisson bootstrap (Chamandy et al., "Estimating uncertainty for massive data streams", 2012):
    each run comes as often as a Poisson variable of mean 1 says, so how many there were need not be known.

    >>> bootstrap([1.0]), bootstrap([1.0, 2.0] * 50)
    ((0.0, 3.0), (121.0, 182.0))
    """
    ordered = sorted(amounts)
    replicates = max(_REPLICATES // 10, min(_REPLICATES, _DRAWS // len(ordered)))
    random = Random(0)  # noqa: S311 - the same each time
    sums = sorted(
        math.fsum(map(mul, ordered, random.choices(_TIMES, _CHANCES, k=len(ordered))))
        for _ in range(replicates)
    )
    low, high = (sums[round(end * (replicates - 1))] for end in _ENDS)
    return round(low, 6), round(high, 6)


_SUCCESS: Final = ("true", "1", "1.0", "yes", "success", "succeeded", "passed", "solved", "resolved", "ok")
_FAILURE: Final = ("false", "0", "0.0", "no", "failure", "failed", "unsolved", "unresolved", "error")
_WORDS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(_SUCCESS, True),
    **dict.fromkeys(_FAILURE, False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcomes:
    """The known outcomes of runs: success or failure.

    Args:
        by_run: By the id of the run, or by the name of its file, with or without endings, or of its folder.
        column: Its column that names the runs.
    """

    by_run: Mapping[str, bool]
    source: str = "<outcomes>"
    column: str = "run_id"

    def name_of(self, run_id: str | None) -> str | None:
        """Returns the name of a run in the table; None if it is not there.

        >>> outcomes = RunOutcomes(by_run={"a.traj": True, "task 7": False})
        >>> outcomes.name_of("runs/a.traj.json.gz"), outcomes.name_of("runs/task 7/steps.json")
        ('a.traj', 'task 7')
        """
        if run_id is None or run_id in self.by_run:
            return run_id
        *folders, name = run_id.split("/")
        endings = accumulate(name.split("."), "{}.{}".format)
        names = [*reversed(list(endings)), *reversed(folders)]
        return next((name for name in names if name in self.by_run), None)

    def assign(self, name: str, run_id: str, runs: dict[str, str]) -> None:
        """Note whose outcome it is.

        Args:
            name: What the table calls the run.
            runs: The runs so far, by what the table calls them; it is added.

        Raises:
            ConfigError: It would be that of another run, too.
        """
        other = runs.setdefault(name, run_id)
        if other != run_id:
            listed = " and ".join(run[:80] for run in sorted((other, run_id)))
            raise ConfigError(
                f"{self.source}: {name!r:.80} may be {listed}. Name the runs as they are named here, "
                "with their folders"
            )

    def none_of(self, runs: str) -> ConfigError:
        """Makes the error for a table without an outcome for any of the runs."""
        example = next(iter(self.by_run), None)
        there = f", such as {example[:60]!r}" if example else ""
        return ConfigError(
            f"{self.source}: there is an outcome for none of the runs in {runs}: the column {self.column!r} "
            f"names other runs{there}. --outcome-run names another column"
        )

    @classmethod
    def load(cls, file: Path, run: str, outcome: str) -> RunOutcomes:
        """Those in a table of Parquet, CSV, JSON (a list of objects) or JSON lines.

        Args:
            run: The column that names the run.
            outcome: The column that says whether it succeeded: true or false, 1 or 0, ``success`` or
                ``failure`` and the like. A run without a word has no known outcome.

        Raises:
            ConfigError: It cannot be read, a column is not there, or a word is not known.
        """
        arrow_library()
        try:
            table = _table(file)
        except Exception as error:
            raise ConfigError(f"{file}: no table of outcomes: {error_text(error)}") from error
        for column in (run, outcome):
            if column not in table.column_names:
                there = ", ".join(map(str, table.column_names))
                hint = meant(column, table.column_names)
                raise ConfigError(f"{file}: there is no column {column!r} among {there:.200}{hint}")
        by_run: dict[str, bool] = {}
        for name, value in zip(table[run].to_pylist(), table[outcome].to_pylist(), strict=True):
            if value is None or value == "":
                continue
            succeeded = _WORDS.get(str(value).strip().lower())
            if succeeded is None:
                raise ConfigError(f"{file}: {outcome} = {value!r:.40}: expected one of {', '.join(_WORDS)}")
            if by_run.setdefault(str(name), succeeded) is not succeeded:
                raise ConfigError(f"{file}: {name!r:.80} has two outcomes")
        return cls(by_run=by_run, source=str(file), column=run)


def _table(file: Path) -> pa.Table:
    suffix = file.suffix.lower()
    if suffix == ".parquet":
        pq = parquet_library()

        return pq.read_table(file)
    if suffix in (".json", ".jsonl", ".ndjson"):
        text = file.read_text(encoding="utf-8")
        rows = json.loads(text) if suffix == ".json" else list(map(json.loads, text.splitlines()))
        return arrow_library().Table.from_pylist(rows)
    from pyarrow import csv

    return csv.read_csv(file)
