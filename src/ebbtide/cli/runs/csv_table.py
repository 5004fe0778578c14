"""Runs and sums of money as CSV: a first line with names, then a line each; an empty cell is not known."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ebbtide.cli.runs.session_row import avoidable_usd, wasted_usd
from ebbtide.supervision.summary.run_summary import RunSummary

#: Columns of a table of runs. New ones come last.
RUN_COLUMNS = (
    "source",
    "format",
    "project",
    "began",
    "ended",
    "headline",
    "course",
    "cost_usd",
    "wasted_usd",
    "avoidable_usd",
    "input",
    "output",
    "cache_read",
    "cache_write",
    "llm_calls",
    "tool_calls",
    "events",
    "unpriced",
    "inherited_usd",
    "reason",
)
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
    """Runs as CSV.

    Args:
        summaries: The runs, in the order of the lines.
    """
    return _table(RUN_COLUMNS, map(_run, summaries))


def sums_csv(key: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Sums of money as CSV.

    Args:
        key: By what is summed.
        rows: As in JSON.
    """
    return _table((key, *SUM_COLUMNS), ({**row, **row["tokens"]} for row in rows))


def _run(summary: RunSummary) -> dict[str, Any]:
    spent, tokens = summary.spent, summary.spent.tokens
    return {
        "source": summary.source,
        "format": summary.format,
        "project": summary.project,
        "began": _time(summary.began_s),
        "ended": _time(summary.ended_s),
        "headline": summary.headline.value,
        "course": summary.course.value,
        "cost_usd": spent.cost_usd,
        "wasted_usd": wasted_usd(summary),
        "avoidable_usd": avoidable_usd(summary),
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "llm_calls": spent.llm_calls,
        "tool_calls": spent.tool_calls,
        "events": spent.events,
        "unpriced": spent.unpriced,
        "inherited_usd": None if summary.inherited is None else summary.inherited.cost_usd,
        "reason": summary.reason,
    }


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _table(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    """A cell, which no program takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value
