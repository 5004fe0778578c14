"""Counts what ending runs at their verdicts would have saved, and the successes that it would have lost.

A file of results is one setting: an archive that was checked with several profiles has a file for each.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import mul
from pathlib import Path
from random import Random
from typing import Final

from ebbtide.batch.results.result_parts import result_batches
from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.batch.sweep.run_outcomes import OutcomeCounter, RunOutcomes
from ebbtide.rate import Rate
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.run_summary import LadderStep

#: What may end a run, the mildest first.
ENDINGS: Final = (Action.NUDGE, Action.FINALIZE, Action.ESCALATE, Action.STOP)

_COLUMNS: Final = ["run_id", "status", "cost_usd", "steps"]
_LEVELS: Final = (Action.STOP, Action.ESCALATE)
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
        low, high = poisson_bootstrap(self.saved) if self.saved else (None, None)
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


def poisson_bootstrap(amounts: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a sum over runs, had other runs of the same kind been there; always the same.

    Args:
        amounts: What each run adds, in any order, one or more. Runs that add nothing need not be there.

    Source: the Poisson bootstrap (Chamandy et al., "Estimating uncertainty for massive data streams", 2012):
    each run comes as often as a Poisson variable of mean 1 says, so how many there were need not be known.

    >>> poisson_bootstrap([1.0]), poisson_bootstrap([1.0, 2.0] * 50)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictLine:
    """The runs that verdicts of one kind in a file of results would have ended.

    Args:
        kind: What the verdicts are about; None of all kinds together.
        ended: The runs that they would have ended.
    """

    results: str
    kind: str | None
    ended: EndedRuns


def ended_by_results(results: Path, outcomes: RunOutcomes) -> list[VerdictLine]:
    """Counts the runs that the verdicts in a file would have ended: all, then by kind, most runs first.

    Raises:
        ConfigError: The file cannot be read, or there is an outcome for none of its runs.
    """
    counters: dict[Action, defaultdict[str | None, EndedCounter]] = {
        level: defaultdict(partial(EndedCounter, level)) for level in _LEVELS
    }
    known = OutcomeCounter(outcomes)
    for batch in result_batches(results, _COLUMNS):
        for row in batch.to_pylist():
            if row["status"] != ResultStatus.CHECKED:
                continue
            succeeded = known.add(row["run_id"], row["cost_usd"])
            if succeeded is None:
                continue
            steps = [LadderStep(**step) for step in row["steps"] or ()]
            for level in _LEVELS:
                step = ending_step(steps, level)
                if step is not None:
                    for kind in dict.fromkeys((None, step.kind)):
                        counters[level][kind].add(step, row["cost_usd"], succeeded=succeeded)
    if not known.runs:
        raise outcomes.none_of(str(results))
    lines = []
    for level in _LEVELS:
        of_level = counters[level]
        ended = {
            kind: of_level[kind].result(known.successes, is_priced=known.priced > 0)
            for kind in (None, *of_level)
        }
        kinds = sorted(kind for kind in ended if kind is not None)
        kinds.sort(key=lambda kind: -ended[kind].runs)
        lines += [VerdictLine(results=str(results), kind=kind, ended=ended[kind]) for kind in (None, *kinds)]
    return lines
