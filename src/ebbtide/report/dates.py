"""Dates of a run, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from ebbtide.clock import calendar_seconds
from ebbtide.supervision.summary.run_summary import RunSummary


def began_at(run: RunSummary) -> datetime | None:
    """Returns the time of the first event that has one; None if that is unknown, or no date."""
    return _moment(run.began_s)


def ended_at(run: RunSummary) -> datetime | None:
    """Returns the time of the last event that has one; None if that is unknown, or no date."""
    return _moment(run.ended_s)


def day(moment: datetime) -> str:
    """Returns a moment as a date.

    >>> day(datetime(2026, 1, 4, 10, 12, tzinfo=UTC))
    '2026-01-04'
    """
    return f"{moment:%Y-%m-%d}"


def minute(moment: datetime) -> str:
    """Returns a moment as a date and a time.

    >>> minute(datetime(2026, 1, 4, 10, 12, tzinfo=UTC))
    '2026-01-04 10:12 UTC'
    """
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def period(run: RunSummary) -> str | None:
    """Returns the first and last minute of a run; None if that is unknown."""
    first, last = began_at(run), ended_at(run)
    if first is None or last is None:
        return None
    if last.date() == first.date():
        return (
            minute(first) if minute(first) == minute(last) else f"{first:%Y-%m-%d %H:%M} to {last:%H:%M} UTC"
        )
    return f"{first:%Y-%m-%d %H:%M} to {minute(last)}"


def _moment(ts: float | None) -> datetime | None:
    seconds = calendar_seconds(ts)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
