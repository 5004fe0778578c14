"""Compares the savings and the losses of verdicts in results with the outcomes of the runs.

A file of results is one setting: an archive that was checked with several profiles has a file for each.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from ebbtide.batch.results.result_parts import result_batches
from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.batch.sweep.ended_runs import EndedCounter, EndedRuns, RunOutcomes, ending_step
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.run_summary import LadderStep

_COLUMNS: Final = ["run_id", "status", "cost_usd", "steps"]
_LEVELS: Final = (Action.STOP, Action.ESCALATE)


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
    runs: dict[str, str] = {}
    successes = priced = 0
    for batch in result_batches(results, _COLUMNS):
        for row in batch.to_pylist():
            name = outcomes.name_of(row["run_id"]) if row["status"] == ResultStatus.CHECKED else None
            if name is None:
                continue
            outcomes.assign(name, row["run_id"], runs)
            succeeded = outcomes.by_run[name]
            successes += succeeded
            priced += row["cost_usd"] is not None
            steps = [LadderStep(**step) for step in row["steps"] or ()]
            for level in _LEVELS:
                step = ending_step(steps, level)
                if step is not None:
                    for kind in dict.fromkeys((None, step.kind)):
                        counters[level][kind].add(step, row["cost_usd"], succeeded=succeeded)
    if not runs:
        raise outcomes.none_of(str(results))
    lines = []
    for level in _LEVELS:
        of_level = counters[level]
        ended = {kind: of_level[kind].result(successes, is_priced=priced > 0) for kind in (None, *of_level)}
        kinds = sorted(kind for kind in ended if kind is not None)
        kinds.sort(key=lambda kind: -ended[kind].runs)
        lines += [VerdictLine(results=str(results), kind=kind, ended=ended[kind]) for kind in (None, *kinds)]
    return lines
