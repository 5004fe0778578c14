"""Counts the results of an archive's runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.codec import Record

#: The columns of results that are counted.
COUNTED: Final = ["run_id", "source", "status", "action", "events", "error", "error_line"]
_LISTED: Final = 100  # runs that could not be checked


@dataclass(frozen=True, slots=True)
class BadRun(Record):
    """A run that could not be checked, and why."""

    run_id: str | None
    source: str
    status: str
    error: str
    line: int | None


@dataclass(slots=True)
class ArchiveCounts:
    """The counts of the runs so far.

    Args:
        runs: By `ResultStatus`.
        actions: Those that were checked, by verdict.
        events: Of all of them.
        bad_runs: The first hundred that could not be checked.
    """

    runs: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    events: int = 0
    bad_runs: list[BadRun] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All runs."""
        return self.runs.total()

    def add(self, others: ArchiveCounts) -> None:
        """Count those of another part, too."""
        self.runs += others.runs
        self.actions += others.actions
        self.events += others.events
        self.bad_runs += others.bad_runs[: _LISTED - len(self.bad_runs)]

    @classmethod
    def of(cls, table: Any) -> ArchiveCounts:
        """Those of the rows of a table of results."""
        rows = zip(*(table[name].to_pylist() for name in COUNTED), strict=True)
        counts = cls()
        for run_id, source, status, action, events, error, line in rows:
            counts.runs[status] += 1
            if status == ResultStatus.CHECKED:
                counts.actions[action] += 1
                counts.events += events
            elif status != ResultStatus.NO_TRACE and len(counts.bad_runs) < _LISTED:
                counts.bad_runs.append(BadRun(run_id, source, status, error or "", line))
        return counts
