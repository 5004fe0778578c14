"""The report of a run, made anew from its events."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from ebbtide import __version__
from ebbtide.checking import check_events
from ebbtide.claims.claim import ClaimCheck
from ebbtide.claims.claim_record import ClaimRecord
from ebbtide.events.event import Event
from ebbtide.report.page import Provenance, page
from ebbtide.service.runs.listing import find_run, find_shipped
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.now import is_under_way, state_line
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.ending import EndKind, RunEnding
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.verdict import Verdict


def summary(
    runs: LiveRuns,
    run_id: str,
    *,
    redact: bool = True,
    silent_after_s: float = math.inf,
    pace: Callable[[Iterator[Event]], Iterator[Event]] = iter,
) -> RunSummary:
    """Returns the summary of a run so far, as `ebbtide check` gives it.

    Args:
        silent_after_s: Seconds without an event after which it is taken for over.
        pace: What the events pass, so that it may take its time.

    Raises:
        StoreError: Its events cannot be read.
    """
    options = RunOptions(prices=runs.prices, timeline=True, redact=redact)
    events = pace(event for _, event in runs.database.since(run_id, 0))
    row = find_run(runs.database, run_id)
    advice = "" if row is None else row["note"]
    over = row is None or not is_under_way(row, time.time(), silent_after_s=silent_after_s)
    outcome = check_events(
        events,
        options,
        source=run_id,
        form="service",
        advice=advice,
        over=over,
        inherited=runs.inherited_by(run_id),
    )
    outcome = dataclasses.replace(outcome, shipped=find_shipped(runs.database, run_id))
    reason = None if row is None else row["stop_reason"]
    if reason is None:
        return outcome
    ending = RunEnding(ending=EndKind.CUT_OFF, rule="stopped-by-person", text=reason, by_person=True)
    return dataclasses.replace(outcome, ending=ending, latest=Verdict())


def report_claims(runs: LiveRuns, run_id: str, text: str) -> tuple[ClaimCheck, ...]:
    """Returns the claims that a report of a run would make, with what its events so far say of each.

    Raises:
        StoreError: Its events cannot be read.
    """
    record = ClaimRecord()
    for _, event in runs.database.since(run_id, 0):
        record.see(event)
    return record.check_report(text)


def report(
    runs: LiveRuns,
    outcome: RunSummary,
    row: dict[str, Any] | None,
    *,
    redact: bool = True,
    silent_after_s: float = math.inf,
) -> str:
    """The page of one run, as `ebbtide check --html` writes it.

    Args:
        row: As it is listed; None where it is not.
    """
    provenance = Provenance(
        version=__version__, profile=RunOptions().profile.name, prices=runs.prices.origin, masked=redact
    )
    state = "" if row is None else state_line(row, time.time(), silent_after_s=silent_after_s)
    return page([outcome], provenance=provenance, state=state)
