"""How runs came out, as their owner knows it: a table with a row a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ebbtide.batch.arrow_types import arrow_library
from ebbtide.errors import ConfigError, error_text
from ebbtide.settings_file import meant

if TYPE_CHECKING:
    import pyarrow as pa

_SUCCESS: Final = ("true", "1", "1.0", "yes", "success", "succeeded", "passed", "solved", "resolved", "ok")
_FAILURE: Final = ("false", "0", "0.0", "no", "failure", "failed", "unsolved", "unresolved", "error")
_WORDS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(_SUCCESS, True),
    **dict.fromkeys(_FAILURE, False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcomes:
    """Whether runs succeeded.

    Args:
        by_run: By the id of the run, or by the name of its file, with or without endings, or of its folder.
        source: The table.
        column: Its column that names the runs.
    """

    by_run: Mapping[str, bool]
    source: str = "<outcomes>"
    column: str = "run_id"

    def name_of(self, run_id: str | None) -> str | None:
        """What the table calls a run; None where it is not in it.

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
            run_id: The run.
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
        """What to say where there is an outcome for no run at all."""
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
            file: The table.
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
        import pyarrow.parquet as pq

        return pq.read_table(file)
    if suffix in (".json", ".jsonl", ".ndjson"):
        text = file.read_text(encoding="utf-8")
        rows = json.loads(text) if suffix == ".json" else list(map(json.loads, text.splitlines()))
        return arrow_library().Table.from_pylist(rows)
    from pyarrow import csv

    return csv.read_csv(file)
