"""When a run was, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from ebbtide.supervision.summary.run_summary import RunSummary

# Times before 2000 and after 2100 count from the begin of something else than 1970.
_EARLIEST_S, _LATEST_S = 946_684_800.0, 4_102_444_800.0


def began_at(run: RunSummary) -> datetime | None:
    """When the first event with a time was; None where that is unknown, or no date."""
    return next((_moment(cell.ts) for cell in run.timeline if cell.ts is not None), None)


def ended_at(run: RunSummary) -> datetime | None:
    """Likewise of the last."""
    return next((_moment(cell.ts) for cell in reversed(run.timeline) if cell.ts is not None), None)


def day(moment: datetime) -> str:
    """A date.

    >>> day(datetime(2026, 1, 4, 10, 12, tzinfo=UTC))
    '2026-01-04'
    """
    return f"{moment:%Y-%m-%d}"


def minute(moment: datetime) -> str:
    """A date and a time.

    >>> minute(datetime(2026, 1, 4, 10, 12, tzinfo=UTC))
    '2026-01-04 10:12 UTC'
    """
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def period(run: RunSummary) -> str | None:
    """From when to when a run was; None where that is unknown."""
    first, last = began_at(run), ended_at(run)
    if first is None or last is None:
        return None
    if last.date() == first.date():
        return (
            minute(first) if minute(first) == minute(last) else f"{first:%Y-%m-%d %H:%M} to {last:%H:%M} UTC"
        )
    return f"{first:%Y-%m-%d %H:%M} to {minute(last)}"


def _moment(ts: float) -> datetime | None:
    return datetime.fromtimestamp(ts, UTC) if _EARLIEST_S <= ts <= _LATEST_S else None
