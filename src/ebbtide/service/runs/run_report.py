"""The report of a run, made anew from its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ebbtide import __version__
from ebbtide.checking import check_events
from ebbtide.events.event import Event
from ebbtide.report.page import Provenance, page
from ebbtide.service.runs.listing import find_run
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary


def summary(
    runs: LiveRuns,
    run_id: str,
    *,
    redact: bool = True,
    pace: Callable[[Iterator[Event]], Iterator[Event]] = iter,
) -> RunSummary:
    """What a run came to so far, as `ebbtide check` says it.

    Args:
        runs: The runs.
        run_id: Which one.
        redact: Whether keys and passwords are masked.
        pace: What the events pass, so that it may take its time.

    Raises:
        StoreError: Its events cannot be read.
    """
    options = RunOptions(prices=runs.prices, timeline=True, redact=redact)
    events = pace(event for _, event in runs.database.since(run_id, 0))
    row = find_run(runs.database, run_id)
    advice = "" if row is None else row["note"]
    return check_events(events, options, source=run_id, form="service", advice=advice)


def report(runs: LiveRuns, run_id: str, *, redact: bool = True) -> str:
    """The page of one run, as `ebbtide check --html` writes it; arguments and errors as of `summary`."""
    provenance = Provenance(
        version=__version__, profile=RunOptions().profile.name, prices=runs.prices.origin, masked=redact
    )
    return page([summary(runs, run_id, redact=redact)], provenance=provenance)
