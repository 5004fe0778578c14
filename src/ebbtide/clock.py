"""The time, for whoever cannot take it from an event; and the day of a time, by the calendar of a zone."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

from ebbtide.errors import ConfigError, expect, shown

#: Seconds since the epoch. Everything that needs a clock takes one, so that a recorded run replays to the
#: same answer.
Clock = Callable[[], float]

system_clock: Clock = time.time

# Times before 2000 and after 2100 count from the begin of something else than 1970.
_EARLIEST_S, _LATEST_S = 946_684_800.0, 4_102_444_800.0


def calendar_seconds(ts: float | None) -> float | None:
    """Returns a time that is one of a calendar, in seconds since 1970; None if it is not.

    >>> calendar_seconds(1_780_000_000.0), calendar_seconds(12.5)
    (1780000000.0, None)
    """
    return ts if ts is not None and _EARLIEST_S <= ts <= _LATEST_S else None


def day_of(ts: float, zone: tzinfo | None = None) -> str:
    """The day of a time in a zone, as ``2026-10-24``.

    >>> day_of(1_780_000_000.0, time_zone("UTC")), day_of(1_780_000_000.0, time_zone("Asia/Tokyo"))
    ('2026-05-28', '2026-05-29')

    Args:
        ts: Seconds since 1970.
        zone: None takes that of this machine.
    """
    return f"{datetime.fromtimestamp(ts, UTC).astimezone(zone):%Y-%m-%d}"


def time_zone(name: str) -> tzinfo:
    """The time zone of a name such as ``Europe/Berlin``.

    Raises:
        ConfigError: There is none of that name on this machine.
    """
    expect("time_zone", name, str)
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, TypeError, ValueError, OSError) as error:
        raise ConfigError(
            f"time_zone = {shown(name)}: no such time zone on this machine; expected a name such as UTC or "
            "Europe/Berlin. On Windows, install the package tzdata"
        ) from error
