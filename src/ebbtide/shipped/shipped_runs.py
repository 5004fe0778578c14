"""Summaries of runs with what their sessions shipped."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from ebbtide.budget.bill.tree import RunRole
from ebbtide.supervision.summary.run_shipped import RunShipped
from ebbtide.supervision.summary.run_summary import RunSummary

_OWN = (RunRole.SESSION, RunRole.FORK)


def with_shipped(
    summaries: Iterable[RunSummary], sessions: Mapping[str, str], shipped: Mapping[str, RunShipped]
) -> list[RunSummary]:
    """Returns the summaries, each session's own one with what the session and its sub-agents shipped.

    Args:
        sessions: The session that each file is of, by its path.
        shipped: What each session shipped, by its id.
    """
    left = dict(shipped)
    results = []
    for summary in summaries:
        session = sessions.get(summary.source, "")
        found = left.pop(session, None) if summary.role in _OWN else None
        results.append(summary if found is None else dataclasses.replace(summary, shipped=found))
    return results
