"""Whether the confidence of an agent became better or worse with time.

Source: decision quality gate (clause Q18). Cumulative sums after E. S. Page, "Continuous inspection schemes",
Biometrika 41 (1954); the test of their largest excursion against a Brownian bridge after W. Ploberger and
W. Kraemer, "The CUSUM test with OLS residuals", Econometrica 60 (1992).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from typing import Any

from ebbtide.decision_log.calibration.brier import Forecast, squared_error

_LEAST = 30  # forecasts under which the test is not made
_TERMS = 50  # of the series of the distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Whether the squared errors of forecasts in time have one mean.

    It says that the error changed, not why: the agent, its confidence or its work may have.

    Args:
        n: Forecasts.
        p_value: How probable so large a change is where there is none. It is computed for many forecasts;
            for few it is too large rather than too small.
        place: Forecasts before the change, if there is one.
        ts: When the first forecast after it was made, seconds since the epoch.
        before: Mean squared error before it.
        after: Mean squared error from there on.
        below: The p-value under which there is a change.
    """

    n: int
    p_value: float
    place: int
    ts: float
    before: float
    after: float
    below: float

    @property
    def changed(self) -> bool:
        """Whether chance is no good explanation."""
        return self.p_value < self.below

    @property
    def worse(self) -> bool:
        """Whether there is a change, and the error is larger after it."""
        return self.changed and self.after > self.before

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "n": self.n,
            "changed": self.changed,
            "worse": self.worse,
            "p_value": round(self.p_value, 6),
            "threshold": self.below,
            "place": self.place,
            "ts": self.ts,
            "before": round(self.before, 6),
            "after": round(self.after, 6),
        }


def find_drift(forecasts: Sequence[Forecast], *, below: float = 0.01) -> Drift | None:
    """Whether the squared errors changed, and where most.

    Args:
        forecasts: In any order; their times order them, and those without one are left out.
        below: The p-value under which there is a change, 0 to 1.

    Returns:
        None under 30 forecasts, or where all errors are equal.
    """
    dated = [(forecast.ts, forecast) for forecast in forecasts if forecast.ts is not None]
    by_time = sorted(dated, key=itemgetter(0))
    errors = [squared_error(forecast) for _, forecast in by_time]
    n = len(errors)
    if n < _LEAST:
        return None
    mean = math.fsum(errors) / n
    deviation = math.sqrt(math.fsum((error - mean) ** 2 for error in errors) / n)
    if deviation < 1e-12:
        return None
    sums = list(accumulate(error - mean for error in errors))[:-1]
    place = max(range(n - 1), key=lambda at: abs(sums[at])) + 1
    return Drift(
        n=n,
        p_value=_bridge(abs(sums[place - 1]) / (deviation * math.sqrt(n))),
        place=place,
        ts=by_time[place][0],
        before=math.fsum(errors[:place]) / place,
        after=math.fsum(errors[place:]) / (n - place),
        below=below,
    )


def _bridge(height: float) -> float:
    """How probable it is that a Brownian bridge goes further than that from zero."""
    if height < 0.2:
        return 1.0  # the series converges slowly there, and its sum is 1 to 12 digits
    terms = ((-1) ** (at - 1) * math.exp(-2 * (at * height) ** 2) for at in range(1, _TERMS))
    return min(max(2 * math.fsum(terms), 0.0), 1.0)
