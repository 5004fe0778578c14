"""Runs that came to nothing, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ebbtide.batch.results.archive_counts import BadRun
from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.cli.terminal import print_line
from ebbtide.report.plurals import count
from ebbtide.text.redaction import redact

_SHOWN = 10


def print_bad_runs(statuses: Mapping[str, int], bad_runs: Sequence[BadRun]) -> None:
    """Say which runs could not be checked, and why.

    Args:
        statuses: How many came to what, by `ResultStatus`.
        bad_runs: The first of them.
    """
    if statuses.get(ResultStatus.NO_TRACE):
        print_line(f"{count(statuses[ResultStatus.NO_TRACE], 'file')} that are no traces")
    bad = statuses.get(ResultStatus.UNREADABLE, 0) + statuses.get(ResultStatus.OUT_OF_TIME, 0)
    if bad:
        are_runs = all(run.run_id is not None for run in bad_runs)
        what = count(bad, "run") if are_runs else f"{bad:,} runs, files or lines"
        print_line(f"{what} could not be checked:")
    for run in bad_runs[:_SHOWN]:
        place = "" if run.line is None else f"line {run.line}: "
        print_line(f"  {run.run_id or run.source}: {place}{redact(run.error)}")
    if bad > _SHOWN:
        print_line(f"  and {bad - _SHOWN:,} more")
