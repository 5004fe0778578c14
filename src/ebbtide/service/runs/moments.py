"""Times in requests, and in tables."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from typing import Final

from ebbtide.clock import calendar_seconds
from ebbtide.errors import ConfigError

QUARTER_S: Final = 900  #: every zone differs from UTC by a number of them
_DAY_S: Final = 86_400
_MOST_S: Final = 4_102_444_800.0  # the year 2100
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_AGO: Final = re.compile(r"(\d{1,6})([hdw])")
_SECONDS: Final = {"h": 3600, "d": _DAY_S, "w": 7 * _DAY_S}


def calendar_time(ts: float | None, arrival: float) -> float:
    """When an event was: its own time where that is one of a calendar and not to come, else when it came.

    >>> calendar_time(1.7e9, 1.8e9), calendar_time(12.5, 1.8e9), calendar_time(1.9e9, 1.8e9)
    (1700000000.0, 1800000000.0, 1800000000.0)
    """
    seconds = calendar_seconds(ts)
    return arrival if seconds is None or seconds > arrival + _DAY_S else seconds


def quarter_number(ts: float) -> int:
    """The quarter of an hour of a time, counted from 1970."""
    return int(ts // QUARTER_S)


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


def midnight(day: datetime, zone: tzinfo | None) -> float:
    """The begin of a day, in seconds since 1970.

    Args:
        day: A time of it, without a zone.
        zone: By whose calendar; None takes that of this machine.
    """
    begin = day.replace(hour=0, minute=0, second=0, microsecond=0)
    return (begin.astimezone() if zone is None else begin.replace(tzinfo=zone)).timestamp()


def moment(words: str, now: float, zone: tzinfo | None = UTC) -> float:
    """The time that a request names, in seconds since 1970.

    Args:
        words: Such as ``24h``, ``7d``, ``2w``, ``2026-11-01``, or seconds since 1970.
        now: Seconds since 1970.
        zone: By whose calendar a day begins; None takes that of this machine.

    Raises:
        ConfigError: It is none of them.

    >>> moment("2h", 10_000.0), moment("1970-01-02", 0.0), moment("12.5", 0.0)
    (2800.0, 86400.0, 12.5)
    """
    ago = _AGO.fullmatch(words)
    if ago is not None:
        return now - int(ago[1]) * _SECONDS[ago[2]]
    with suppress(ValueError, OverflowError):
        if _DAY.fullmatch(words):
            return midnight(datetime.fromisoformat(words), zone)
        seconds = float(words)
        if abs(seconds) <= _MOST_S:
            return seconds
    raise ConfigError(
        f"since = {words!r:.40}: expected 24h, 7d, 2w, a day such as 2026-11-01, or seconds since 1970"
    )
