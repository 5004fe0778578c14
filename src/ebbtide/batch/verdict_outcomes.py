"""What verdicts would have saved, and what they would have cost, by how the runs came out.

A file of results is one setting: check an archive with several profiles, and each file has its lines. Within
a file the ladder is swept: runs that a stop would have ended, and those that escalate or stop would have.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ebbtide.batch.arrow_types import arrow_library
from ebbtide.batch.result_parts import result_batches
from ebbtide.batch.run_result import ResultStatus
from ebbtide.errors import ConfigError, error_text
from ebbtide.settings_file import meant
from ebbtide.supervision.ladder import Action

if TYPE_CHECKING:
    import pyarrow as pa

_Z: Final = 1.959964  # 95 %
_COLUMNS: Final = ["run_id", "status", "action", "kind", "cost_usd", "saved_usd"]
_LEVELS: Final = (Action.STOP, Action.ESCALATE)
_SUCCESS: Final = ("true", "1", "1.0", "yes", "success", "succeeded", "passed", "solved", "resolved", "ok")
_FAILURE: Final = ("false", "0", "0.0", "no", "failure", "failed", "unsolved", "unresolved", "error")
_WORDS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(_SUCCESS, True),
    **dict.fromkeys(_FAILURE, False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRuns:
    """The runs that a setting would have ended.

    Args:
        results: The file of results.
        action: The mildest verdict that ends a run.
        kind: What the verdicts are about; None of all kinds together.
        runs: Runs of known outcome that would have been ended.
        failed: Those of them that failed: ending them was right.
        precision: Their share; None where no run would have been ended.
        precision_low: The lower end of its Wilson interval, 95 %.
        precision_high: The upper end.
        lost_successes: Runs that succeeded and would have been ended.
        lost_share: Of all that succeeded; None where none did.
        lost_low: The lower end of its interval.
        lost_high: The upper end.
        saved_usd: What the failed runs took after the verdict; None where no cost is known.
        lost_usd: What the lost runs cost as a whole: to have them again costs about that.
    """

    results: str
    action: str
    kind: str | None
    runs: int
    failed: int
    precision: float | None
    precision_low: float
    precision_high: float
    lost_successes: int
    lost_share: float | None
    lost_low: float
    lost_high: float
    saved_usd: float | None
    lost_usd: float | None


@dataclass(slots=True)
class _Ended:
    failed: int = 0
    lost_successes: int = 0
    saved: list[float] = field(default_factory=list)
    lost_costs: list[float] = field(default_factory=list)

    def add(self, row: Mapping[str, Any], *, succeeded: bool) -> None:
        self.lost_successes += succeeded
        self.failed += not succeeded
        cost = row["cost_usd"] if succeeded else row["saved_usd"]
        if cost is not None:
            (self.lost_costs if succeeded else self.saved).append(cost)


def ended_runs(results: Path, outcomes: Mapping[str, bool]) -> list[EndedRuns]:
    """What the verdicts in a file of results would have ended: all of them, then by kind, most runs first.

    Args:
        results: The file.
        outcomes: Whether a run succeeded, by its id, or by the name of its file without the folders.

    Raises:
        ConfigError: The file cannot be read, or there is an outcome for none of its runs.
    """
    sums: dict[Action, defaultdict[str | None, _Ended]] = {level: defaultdict(_Ended) for level in _LEVELS}
    successes = known_runs = 0
    for batch in result_batches(results, _COLUMNS):
        for row in batch.to_pylist():
            succeeded = _outcome(row["run_id"], outcomes) if row["status"] == ResultStatus.CHECKED else None
            if succeeded is None:
                continue
            known_runs += 1
            successes += succeeded
            for level in _LEVELS:
                if Action(row["action"]).rank >= level.rank:
                    sums[level][None].add(row, succeeded=succeeded)
                    sums[level][row["kind"]].add(row, succeeded=succeeded)
    if not known_runs:
        raise ConfigError(f"{results}: there is an outcome for none of its runs: is --run the right column?")
    lines = []
    for level in _LEVELS:
        kinds = sorted(
            (kind for kind in sums[level] if kind is not None),
            key=lambda kind: (-sums[level][kind].failed - sums[level][kind].lost_successes, kind),
        )
        lines += [_line(str(results), level, kind, sums[level][kind], successes) for kind in (None, *kinds)]
    return lines


def _outcome(run_id: str, outcomes: Mapping[str, bool]) -> bool | None:
    known_outcome = outcomes.get(run_id)
    return outcomes.get(run_id.rpartition("/")[2]) if known_outcome is None else known_outcome


def load_outcomes(file: Path, run: str, outcome: str) -> dict[str, bool]:
    """How runs came out, as a table of Parquet, CSV, JSON (a list of objects) or JSON lines says it.

    Args:
        file: The table.
        run: The column that names the run, as in the results or by its file alone.
        outcome: The column that says whether it succeeded: true or false, 1 or 0, ``success`` or ``failure``
            and the like. A run without a word has no known outcome.

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
            raise ConfigError(f"{file}: there is no column {column!r}{meant(column, table.column_names)}")
    outcomes = {}
    for name, value in zip(table[run].to_pylist(), table[outcome].to_pylist(), strict=True):
        if value is None or value == "":
            continue
        succeeded = _WORDS.get(str(value).strip().lower())
        if succeeded is None:
            raise ConfigError(f"{file}: {outcome} = {value!r:.40}: expected one of {', '.join(_WORDS)}")
        outcomes[str(name)] = succeeded
    return outcomes


def _table(file: Path) -> pa.Table:
    suffix = file.suffix.lower()
    if suffix == ".parquet":
        import pyarrow.parquet as pq

        return pq.read_table(file)
    if suffix in (".json", ".jsonl", ".ndjson"):
        text = file.read_text(encoding="utf-8")
        rows = json.loads(text) if suffix == ".json" else list(map(json.loads, text.splitlines()))
        return arrow_library().Table.from_pylist(rows)
    from pyarrow import csv

    return csv.read_csv(file)


def wilson(hits: int, total: int) -> tuple[float, float]:
    """The Wilson score interval of a rate, 95 %; 0 to 1 where there is nothing to count.

    >>> wilson(9, 10)
    (0.5958, 0.9821)
    """
    if not total:
        return 0.0, 1.0
    rate = hits / total
    centre = rate + _Z * _Z / (2 * total)
    spread = _Z * math.sqrt(rate * (1 - rate) / total + _Z * _Z / (4 * total * total))
    scale = 1 + _Z * _Z / total
    return max(0.0, round((centre - spread) / scale, 4)), min(1.0, round((centre + spread) / scale, 4))


def _line(results: str, level: Action, kind: str | None, part: _Ended, successes: int) -> EndedRuns:
    runs = part.failed + part.lost_successes
    low, high = wilson(part.failed, runs)
    lost_low, lost_high = wilson(part.lost_successes, successes)
    return EndedRuns(
        results=results,
        action=level.value,
        kind=kind,
        runs=runs,
        failed=part.failed,
        precision=part.failed / runs if runs else None,
        precision_low=low,
        precision_high=high,
        lost_successes=part.lost_successes,
        lost_share=part.lost_successes / successes if successes else None,
        lost_low=lost_low,
        lost_high=lost_high,
        saved_usd=_sum(part.saved),
        lost_usd=_sum(part.lost_costs),
    )


def _sum(amounts: Sequence[float]) -> float | None:
    return math.fsum(amounts) if amounts else None
