"""Times in requests, and days in tables."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from ebbtide.clock import calendar_seconds
from ebbtide.errors import ConfigError

_EPOCH: Final = date(1970, 1, 1)
_DAY_S: Final = 86_400
_MOST_S: Final = 4_102_444_800.0  # the year 2100
_AGO: Final = re.compile(r"(\d{1,6})([hdw])")
_SECONDS: Final = {"h": 3600, "d": _DAY_S, "w": 7 * _DAY_S}


def calendar_time(ts: float | None, arrival: float) -> float:
    """When an event was: its own time where that is one of a calendar and not to come, else when it came.

    >>> calendar_time(1.7e9, 1.8e9), calendar_time(12.5, 1.8e9), calendar_time(1.9e9, 1.8e9)
    (1700000000.0, 1800000000.0, 1800000000.0)
    """
    seconds = calendar_seconds(ts)
    return arrival if seconds is None or seconds > arrival + _DAY_S else seconds


def day_number(ts: float) -> int:
    """The day of a time, in UTC, counted from 1970."""
    return int(ts // _DAY_S)


def day_name(number: int) -> str:
    """A day as people write it.

    >>> day_name(20_454)
    '2026-01-01'
    """
    return (_EPOCH + timedelta(days=number)).isoformat()


def rough_time(seconds: float) -> str:
    """A time in one unit, as people say it.

    >>> [rough_time(seconds) for seconds in (-1.0, 40.0, 61.0, 5399.0, 5400.0, 200_000.0)]
    ['0 s', '40 s', '1 min', '90 min', '2 h', '2 days']
    """
    if seconds < 60:
        return f"{max(0.0, seconds):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 1.5 * _DAY_S else f"{seconds / _DAY_S:.0f} days"


def moment(words: str, now: float) -> float:
    """The time that a request names, in seconds since 1970.

    Args:
        words: Such as ``24h``, ``7d``, ``2w``, ``2026-11-01`` (UTC), or seconds since 1970.
        now: Seconds since 1970.

    Raises:
        ConfigError: It is none of them.

    >>> moment("2h", 10_000.0), moment("1970-01-02", 0.0), moment("12.5", 0.0)
    (2800.0, 86400.0, 12.5)
    """
    ago = _AGO.fullmatch(words)
    if ago is not None:
        return now - int(ago[1]) * _SECONDS[ago[2]]
    try:
        seconds = float(words)
        if abs(seconds) <= _MOST_S:
            return seconds
    except ValueError:
        try:
            return datetime.strptime(words, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
        except ValueError:
            pass
    raise ConfigError(
        f"since = {words!r:.40}: expected 24h, 7d, 2w, a day such as 2026-11-01, or seconds since 1970"
    )
