"""Clock for code that cannot take the time from an event; and a test for a time that is a date."""

from __future__ import annotations

import time
from collections.abc import Callable

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
