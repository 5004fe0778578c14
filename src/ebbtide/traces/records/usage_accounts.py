"""Accounts of a run's tokens and cost: what events carry of them, and what a total has beyond."""

from __future__ import annotations

from typing import Any, TypeVar

from ebbtide.events.event import Event, Notice, NoticeKind
from ebbtide.events.usage import Usage
from ebbtide.traces.records.calls_once import AMOUNTS

_ROUNDING = 1e-9  # dollars
_AnyEvent = TypeVar("_AnyEvent", bound=Event)


class RunningTotal:
    """Totals that grow, and of which only the growth is to be counted."""

    def __init__(self) -> None:
        self._last = Usage()

    def growth(self, totals: Usage) -> Usage:
        """By how much each total has grown; None where it has not, or is not known."""
        grown = Usage(model=totals.model)
        for key in AMOUNTS:
            amount, before = getattr(totals, key), getattr(self._last, key)
            if amount is None:
                continue
            setattr(grown, key, amount if before is None else max(amount - before, 0) or None)
            if before is None or amount > before:
                setattr(self._last, key, amount)
        grown.drop_impossible_parts()
        return grown


class UsageLedger:
    """Sums of what events carry, to compare with the totals that a trace states."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._has_unpriced = False  # tokens whose cost their events do not state

    def add(self, event: _AnyEvent) -> _AnyEvent:
        """Count an event; it is given back."""
        if (usage := event.usage) is not None:
            for key in AMOUNTS:
                amount = getattr(usage, key)
                if amount is not None:
                    self._sums[key] = self._sums.get(key, 0) + amount
            self._has_unpriced = self._has_unpriced or (usage.has_tokens and usage.stated_cost is None)
        return event

    def rest(self, totals: Usage, **fields: Any) -> tuple[Notice, ...]:
        """A notice of a total: what the totals have beyond the events, if anything.

        A total of 0 is kept where no event reports that amount. Dollars that are stated of a whole run some
        of whose calls state tokens alone are the cost of these tokens too: the notice states the whole then,
        so that it is held against what the calls cost.

        Args:
            totals: The totals that the trace states.
            fields: Other fields of the notice.
        """
        beyond: dict[str, Any] = {}
        for key in AMOUNTS:
            total, counted = getattr(totals, key), self._sums.get(key)
            if total is None:
                continue
            if total - (counted or 0) > _ROUNDING:
                beyond[key] = total - (counted or 0)
            elif total == 0 and counted is None:
                beyond[key] = total
        usage = Usage(**beyond)
        usage.drop_impossible_parts()
        if usage == Usage():
            return ()
        if self._has_unpriced and totals.stated_cost is not None and not fields.get("chain_id"):
            fields |= {"stated": (totals,), "source": "total"}
        return (self.add(Notice(kind=NoticeKind.TOTAL, usage=usage, **fields)),)
