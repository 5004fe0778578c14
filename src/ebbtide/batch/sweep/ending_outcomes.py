"""Endings of runs held against git: a run that FINISHED and was reverted is a witness against that word."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ebbtide.batch.results.result_parts import result_batches
from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.batch.sweep.ended_runs import RunOutcomes
from ebbtide.codec import from_wire
from ebbtide.errors import ConfigError
from ebbtide.rate import Rate
from ebbtide.supervision.summary.run_shipped import RunShipped

_COLUMNS: Final = ["run_id", "status", "headline", "shipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingLine:
    """The runs in a file of results that ended with one word, by what git says of their changes.

    Args:
        headline: The word, such as ``FINISHED``.
        landed: Runs with a landed change and no reverted one.
        reverted: Runs with a reverted change: each is a witness against the word.
        unsettled: Runs whose changes are open, lost or unknown, or that changed no file: no witness.
        right: The share of the settled ones that landed.
    """

    headline: str
    landed: int
    reverted: int
    unsettled: int
    right: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingOutcomes:
    """The endings in a file of results.

    Args:
        lines: By the last word, that of most settled runs first; empty where no repository was asked.
        outcomes: Runs that are settled: True where their changes landed, False where one was taken back.
    """

    lines: tuple[EndingLine, ...]
    outcomes: dict[str, bool]


def endings_by_results(results: Path) -> EndingOutcomes:
    """Holds the endings in a file of results against the fates of their commits.

    Raises:
        ConfigError: The file cannot be read.
    """
    counts: defaultdict[str, Counter[bool | None]] = defaultdict(Counter)
    outcomes: dict[str, bool] = {}
    for batch in result_batches(results, _COLUMNS):
        for row in batch.to_pylist():
            shipped = _shipped(row)
            if shipped is None:
                continue
            counts[row["headline"]][shipped.is_success] += 1
            if shipped.is_success is not None:
                outcomes[row["run_id"]] = shipped.is_success
    lines = [
        EndingLine(
            headline=headline,
            landed=count[True],
            reverted=count[False],
            unsettled=count[None],
            right=Rate(hits=count[True], total=count[True] + count[False]),
        )
        for headline, count in counts.items()
    ]
    lines.sort(key=lambda line: (-line.right.total, -line.unsettled, line.headline))
    return EndingOutcomes(lines=tuple(lines), outcomes=outcomes)


def outcomes_in_git(endings: dict[Path, EndingOutcomes]) -> RunOutcomes:
    """Returns the outcomes of the runs in files of results, as git has them.

    Raises:
        ConfigError: No run is settled.
    """
    by_run = {run: outcome for file in endings.values() for run, outcome in file.outcomes.items()}
    if not by_run:
        names = ", ".join(map(str, endings))
        raise ConfigError(
            f"{names}: no run has a change that landed or was reverted. `ebbtide archive check --repo DIR` "
            "asks a repository, or --outcomes FILE says how the runs came out"
        )
    return RunOutcomes(by_run=by_run, source="git")


def _shipped(row: dict[str, Any]) -> RunShipped | None:
    wire = row.get("shipped") if row["status"] == ResultStatus.CHECKED else None
    return None if wire is None else from_wire(RunShipped, wire)
