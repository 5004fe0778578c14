"""A session replayed with another lifetime of the cache: five minutes, or an hour."""

from __future__ import annotations

from typing import Final

from ebbtide.budget.bill.context import Charge
from ebbtide.budget.prices import Rates

_MINUTES_S: Final = 300.0
_HOUR_S: Final = 3_600.0
_UNITS_OF_RATE: Final = 10**6  # units a token, of a dollar a million tokens


class CacheReplay:
    """Adds up what the main conversation of a session would have saved with the other lifetime.

    A pause counts from answer to answer. With an hour, what the cache lost in a pause of up to an hour is a
    hit, and every write costs more. With five minutes, every write costs less, and all that was read from the
    cache after a pause of more than five minutes is written again.

    Attributes:
        writes: Tokens that were written for five minutes.
        long_writes: Tokens that were written for an hour.
    """

    def __init__(self) -> None:
        self.writes = 0
        self.long_writes = 0
        self._hour = 0.0
        self._minutes = 0.0
        self._is_known = True
        self._ts: float | None = None

    def see(self, charge: Charge, ts: float | None, rates: Rates | None) -> None:
        """Takes the next call of the main conversation.

        Args:
            charge: What it paid.
            ts: Seconds since 1970; None where unknown.
            rates: The prices of its model; None where nobody knows them.
        """
        pause_s = None if ts is None or self._ts is None else ts - self._ts
        self._ts = ts
        short = charge.writes - charge.long_writes
        self.writes += short
        self.long_writes += charge.long_writes
        is_pause = pause_s is not None and _MINUTES_S < pause_s <= _HOUR_S
        if not short and not charge.long_writes and not is_pause:
            return
        if rates is None or not charge.is_split or ts is None:
            self._is_known = False
            return
        if None in (rates.cache_read, rates.cache_write, rates.cache_write_1h):
            self._is_known = False
            return
        read, write, long_write = rates.cache_read or 0, rates.cache_write or 0, rates.cache_write_1h or 0
        kept = min(charge.misses, short) if is_pause else 0
        lost = charge.hits if is_pause else 0
        above = long_write - write
        self._hour += (charge.miss_cost if is_pause else 0) - (short - kept) * above * _UNITS_OF_RATE
        self._minutes += (charge.long_writes * above - lost * (write - read)) * _UNITS_OF_RATE

    def hour(self) -> int | None:
        """Units that an hour for all writes would have saved, below 0 where it costs more; None: unknown."""
        return round(self._hour) if self._is_known else None

    def minutes(self) -> int | None:
        """Units that five minutes for all writes would have saved, likewise."""
        return round(self._minutes) if self._is_known else None
