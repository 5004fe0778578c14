"""Runs and sums of money as CSV: a first line with names, then a line each; an empty cell is not known."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from ebbtide.cli.runs.session_row import avoidable_usd, wasted_usd
from ebbtide.supervision.summary.run_summary import RunSummary


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


#: Columns of a table of runs, with what each says of a run. New ones come last.
RUN_COLUMNS: Mapping[str, Callable[[RunSummary], Any]] = {
    "source": attrgetter("source"),
    "format": attrgetter("format"),
    "project": attrgetter("project"),
    "began": lambda run: _time(run.began_s),
    "ended": lambda run: _time(run.ended_s),
    "headline": attrgetter("headline.value"),
    "course": attrgetter("course.value"),
    "cost_usd": attrgetter("spent.cost_usd"),
    "wasted_usd": wasted_usd,
    "avoidable_usd": avoidable_usd,
    "input": attrgetter("spent.tokens.input"),
    "output": attrgetter("spent.tokens.output"),
    "cache_read": attrgetter("spent.tokens.cache_read"),
    "cache_write": attrgetter("spent.tokens.cache_write"),
    "llm_calls": attrgetter("spent.llm_calls"),
    "tool_calls": attrgetter("spent.tool_calls"),
    "events": attrgetter("spent.events"),
    "unpriced": attrgetter("spent.unpriced"),
    "inherited_usd": lambda run: None if run.inherited is None else run.inherited.cost_usd,
    "reason": attrgetter("reason"),
}
#: Columns of a table of sums, after the one of what is summed by.
SUM_COLUMNS = (
    "sessions",
    "llm_calls",
    "cost_usd",
    "input",
    "output",
    "cache_read",
    "cache_write",
    "unpriced",
)


def runs_csv(summaries: Iterable[RunSummary]) -> str:
    """Returns runs as CSV, a line each, in their order."""
    rows = ([value(run) for value in RUN_COLUMNS.values()] for run in summaries)
    return _table(RUN_COLUMNS, rows)


def sums_csv(key: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns sums of money as CSV, of rows as in JSON, summed by `key`."""
    names = (key, *SUM_COLUMNS)
    return _table(names, ([{**row, **row["tokens"]}.get(name) for name in names] for row in rows))


def _table(names: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    """A cell, which no program takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value
