"""Outcomes of runs: of a table, or of git, which is held against the words in which they ended.

A run that FINISHED and was reverted is a witness against that word.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ebbtide.batch.results.arrow_types import arrow_library, parquet_library
from ebbtide.batch.results.result_parts import result_batches
from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.codec import from_wire
from ebbtide.errors import ConfigError, error_text
from ebbtide.rate import Rate
from ebbtide.settings_file import meant
from ebbtide.supervision.summary.run_shipped import RunShipped

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS: Final = ["run_id", "status", "headline", "shipped"]
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
        column: The column of the table that names the runs.
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


@dataclass(slots=True)
class OutcomeCounter:
    """Counts runs of known outcome, in any order.

    Attributes:
        runs: The runs so far, by what the table of outcomes calls them.
        successes: Those of them that succeeded.
        priced: Those whose cost is known.
    """

    outcomes: RunOutcomes
    runs: dict[str, str] = field(default_factory=dict)
    successes: int = 0
    priced: int = 0

    def add(self, run_id: str, cost_usd: float | None) -> bool | None:
        """Counts a run, and returns its outcome; None where nobody knows it.

        Raises:
            ConfigError: The outcome would be that of another run, too.
        """
        name = self.outcomes.name_of(run_id)
        if name is None:
            return None
        other = self.runs.setdefault(name, run_id)
        if other != run_id:
            listed = " and ".join(run[:80] for run in sorted((other, run_id)))
            raise ConfigError(
                f"{self.outcomes.source}: {name!r:.80} may be {listed}. Name the runs as they are named "
                "here, with their folders"
            )
        succeeded = self.outcomes.by_run[name]
        self.successes += succeeded
        self.priced += cost_usd is not None
        return succeeded


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
