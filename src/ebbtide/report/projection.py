"""Projection of a budget's end, if the run goes on as it went lately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.budget.limits import LimitKind, Limits
from ebbtide.codec import to_wire
from ebbtide.supervision.summary.run_summary import Cell

_LATELY = 0.2  # of the run
_FEWEST = 10  # events


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """Distance of a run from one limit.

    Args:
        limit: The most that may be taken.
        spent: The amount that was taken.
        passed_at: The event that reached it; None where none did.
        rate: Taken an event, lately; None where nothing was.
        ends_at: The event at which it would be reached at that rate; None where it was, or never is.
        ends_in_s: Seconds until then; None where events have no time.
    """

    kind: LimitKind
    limit: float
    spent: float
    passed_at: int | None = None
    rate: float | None = None
    ends_at: int | None = None
    ends_in_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns the projection for the page."""
        wire = to_wire(self)
        del wire["ends_in_s"]  # the chart counts events
        return wire


def projections(cells: Sequence[Cell], limits: Limits) -> tuple[Projection, ...]:
    """Returns one for each limit on money and on tokens of which something is known.

    The rate is that of the last fifth of the run, of ten events at least: what an agent costs grows with its
    context, and the mean of the whole run would say too little.
    """
    results = []
    for kind, limit in ((LimitKind.COST_USD, limits.cost_usd), (LimitKind.TOKENS, limits.tokens)):
        values = [(cell, cell.cost_usd if kind is LimitKind.COST_USD else cell.tokens) for cell in cells]
        points = [(cell, value) for cell, value in values if value is not None]
        if limit is not None and points:
            results.append(_projection(kind, float(limit), points))
    return tuple(results)


def _projection(kind: LimitKind, limit: float, points: Sequence[tuple[Cell, float]]) -> Projection:
    last, spent = points[-1]
    passed_at = next((cell.number for cell, value in points if value >= limit), None)
    back = max(_FEWEST, round(len(points) * _LATELY))
    first, before = points[max(0, len(points) - 1 - back)]
    length = last.number - first.number
    rate = (spent - before) / length if length else None
    if passed_at is not None or not rate or rate < 0:
        return Projection(kind=kind, limit=limit, spent=spent, passed_at=passed_at, rate=rate or None)
    more = (limit - spent) / rate
    pause = None if last.ts is None or first.ts is None else (last.ts - first.ts) / length
    return Projection(
        kind=kind,
        limit=limit,
        spent=spent,
        rate=rate,
        ends_at=last.number + round(more),
        ends_in_s=None if pause is None or pause <= 0 else more * pause,
    )
