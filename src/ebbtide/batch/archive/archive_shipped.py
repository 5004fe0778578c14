"""Commits of an archive's sessions in a repository of git, joined when all of them are checked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.budget.tally import units, usd
from ebbtide.shipped.git import Repository
from ebbtide.shipped.outcome import outcomes
from ebbtide.shipped.session_work import WorkFile, recorded_work
from ebbtide.supervision.summary.run_shipped import RunShipped
from ebbtide.text.redaction import redacted
from ebbtide.traces.sessions.session_origin import SessionOrigin, origin_at, root_session

#: The columns of results that the join reads.
JOINED: Final = ["run_id", "status", "format", "agent", "project", "cost_usd", "unpriced_calls"]


def archive_shipped(
    rows: Iterable[Mapping[str, Any]], repository: Path, *, redact: bool, jobs: int = 1
) -> dict[str, RunShipped]:
    """Returns what each session shipped, by the run of its own file.

    Runs that a session started are part of it: their work and their cost count there. Runs that are no files
    of this machine are left out.

    Args:
        rows: The results, with the columns of `JOINED`.
        repository: A folder of the repository.
        redact: Whether keys and passwords are masked in titles.
        jobs: Processes that read the files.

    Raises:
        GitError: There is no such repository, or git cannot be asked.
    """
    git = Repository(repository)
    costs: defaultdict[str, list[int]] = defaultdict(list)
    unpriced: Counter[str] = Counter()
    files: list[WorkFile] = []
    run_of: dict[str, str] = {}  # by session
    for row, origin, session in _sessions(rows):
        if row["cost_usd"] is not None:
            costs[session].append(units(row["cost_usd"]))
        unpriced[session] += row["unpriced_calls"]
        files.append(WorkFile(row["run_id"], session, row["project"], row["agent"] or row["format"]))
        if origin is None or origin.is_main:
            run_of.setdefault(session, row["run_id"])
    works, _ = recorded_work(files, jobs=jobs)
    found = {}
    for work, shipped in zip(works, outcomes(git, works), strict=True):
        session = work.session
        if session in run_of:
            cost_usd = usd(sum(costs[session])) if costs[session] else None
            priced = replace(shipped, cost_usd=cost_usd, unpriced=unpriced[session])
            found[run_of[session]] = redacted(priced) if redact else priced
    return found


def _sessions(
    rows: Iterable[Mapping[str, Any]],
) -> list[tuple[Mapping[str, Any], SessionOrigin | None, str]]:
    """Returns the checked files of this machine, each with its origin and the session that it belongs to."""
    placed = [
        (row, origin_at(row["run_id"], row["format"]))
        for row in rows
        if row["status"] == ResultStatus.CHECKED and row["run_id"] and Path(row["run_id"]).exists()
    ]
    origins: dict[str, dict[str, SessionOrigin]] = {}
    for row, origin in placed:
        if origin is not None:
            origins.setdefault(row["format"], {})[origin.id] = origin
    return [
        (
            row,
            origin,
            row["run_id"]
            if origin is None
            else f"{row['format']}:{root_session(origin, origins[row['format']])}",
        )
        for row, origin in placed
    ]
