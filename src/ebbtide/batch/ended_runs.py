"""What ending runs at their verdicts would have saved, and which successes it would have lost: the counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import mul
from random import Random
from typing import Final

from ebbtide.rate import Rate
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.run_summary import LadderStep

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
    """Counts the runs that one verdict and anything stricter would have ended.

    Args:
        action: The verdict.
    """

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
        """What the counts come to.

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
    """Where a verdict, or a stricter one, would have ended a run; None where it came to its end before."""
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
