"""Frequency of something, and how sure it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

_Z = 1.959964  # 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Share of `hits` among `total`.

    >>> rate = Rate(hits=18, total=20)
    >>> rate.value, rate.interval
    (0.9, (0.699, 0.9721))
    """

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        """The share, 0 to 1; None where there was nothing to count."""
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson score interval of the share, 95 %; 0 to 1 where there was nothing to count.

        Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22
        (1927).
        """
        if not self.total:
            return (0.0, 1.0)
        share, n = self.hits / self.total, self.total
        centre = share + _Z * _Z / (2 * n)
        spread = _Z * math.sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n))
        scale = 1 + _Z * _Z / n
        # Rounding errors must not take an interval past the ends.
        low, high = max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
        return (round(low, 4), round(high, 4))

    def to_dict(self) -> dict[str, Any]:
        """Returns the rate in the wire form."""
        value = self.value
        return {
            "hits": self.hits,
            "n": self.total,
            "rate": None if value is None else round(value, 4),
            "interval_95": list(self.interval),
        }
