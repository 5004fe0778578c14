"""Title, words and waste of the runs: found by going through their events again, beside everything else."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, TypeVar

from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_event import plain_text
from ebbtide.service.runs.run_report import summary
from ebbtide.supervision.summary.headline import Course
from ebbtide.supervision.summary.run_summary import RunSummary

_Item = TypeVar("_Item")

_WORK_S: Final = 0.001  # after which requests have their turn
_REST_S: Final = 0.02  # it takes a twentieth of a processor, however many runs there are
_REST_OF_STUCK_S: Final = 0.004  # a person waits for those, and they are few
_QUIET_S: Final = 10.0  # without an event, after which a run is looked at as it is
_LATEST_S: Final = 30 * 86_400.0  # runs that were silent for longer are left as they are
# A run that goes on is looked at again when it has grown by a half, so that all looks take three times as
# long as one.
_NEXT: Final = """
SELECT run_id, events FROM runs
WHERE latest >= ? AND (
    (events != wasted_events AND (latest < ? OR events >= 1.5 * wasted_events + 10))
    OR (words IS NULL AND (ended = 1 OR stop_reason IS NOT NULL OR latest < ?)))
ORDER BY latest DESC LIMIT 1
"""
_NEXT_STUCK: Final = """
SELECT run_id, events FROM runs
WHERE stuck_since IS NOT NULL AND events != wasted_events AND latest >= ?
    AND (latest < ? OR events >= 1.5 * wasted_events)
ORDER BY latest DESC LIMIT 1
"""


def look_for_waste(
    runs: LiveRuns, now: float, *, is_stuck: bool = False, silent_after_s: float = math.inf
) -> str | None:
    """Find out what of one run bought nothing; which run, None where all are known.

    Args:
        is_stuck: Whether only those are looked at that are stuck, and faster.
        silent_after_s: Seconds without an event after which a run is taken for over.
    """
    edges = (now - _LATEST_S, now - _QUIET_S)
    query, values = (_NEXT_STUCK, edges) if is_stuck else (_NEXT, (*edges, now - silent_after_s))
    rows = runs.database.read(query, values)
    if not rows:
        return None
    run_id, events = rows[0]
    rest_s = _REST_OF_STUCK_S if is_stuck else _REST_S
    pace = partial(unhurried, work_s=_WORK_S, rest_s=rest_s)
    keep_waste(runs, run_id, events, summary(runs, run_id, silent_after_s=silent_after_s, pace=pace))
    return str(run_id)


def keep_waste(runs: LiveRuns, run_id: str, events: int, outcome: RunSummary) -> None:
    """Keep what a run was about, how it ended if it is over, and what of it bought nothing.

    Args:
        events: How many events it had then, at least.
    """
    wasted_usd = None if outcome.course is Course.UNKNOWN else outcome.bill.wasted.cost_usd
    words = outcome.words if outcome.over else None
    values = (wasted_usd, round(100 * (wasted_usd or 0.0)), words, plain_text(outcome.title))
    query = (
        "UPDATE runs SET wasted_usd = ?, wasted_cents = ?, words = ?, title = ?, wasted_events = ?"
        " WHERE run_id = ? AND wasted_events <= ?"
    )
    runs.database.write(lambda session: session.run(query, (*values, events, run_id, events)))
    if outcome.over:
        runs.report_outcome(run_id, outcome)


def unhurried(items: Iterable[_Item], *, work_s: float, rest_s: float) -> Iterator[_Item]:
    """Yields items, with a rest after each so many seconds of work, so that requests have their turn."""
    start = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - start > work_s:
            time.sleep(rest_s)
            start = time.monotonic()
