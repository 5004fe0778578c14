"""What calls carry of a run's tokens and cost: each counted once, and what a total has beyond them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from ebbtide.events.event import Call
from ebbtide.traces.records.token_classes import TokenClasses

CLASSES: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_MOST = 10_000  # model calls that are remembered
_ROUNDING = 1e-9  # dollars


class UsageOnce:
    """The usage of model calls that are told of more than once, each time with the last counts."""

    def __init__(self) -> None:
        self._counted: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def beyond(self, name: str | None, told: Mapping[str, Any]) -> dict[str, Any]:
        """What was not counted yet.

        Args:
            name: The id of the model call; None where it has none: then it is told of once.
            told: Token fields of `Call`, and ``cost_usd``, as they stand now.

        Returns:
            The fields with what came on top of what was told before; None where nothing did.
        """
        if name is None:
            return dict(told)
        before = self._counted.setdefault(name, {})
        new: dict[str, Any] = {}
        for key, value in told.items():
            known = before.get(key)
            if value is None or known is None:
                new[key] = value
            else:
                new[key] = value - known if value > known else None
            if value is not None and (known is None or value > known):
                before[key] = value
        if len(self._counted) > _MOST:
            self._counted.popitem(last=False)
        return new


class Running:
    """Totals that grow, and of which only the growth is to be counted."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}

    def growth(self, totals: Mapping[str, Any]) -> dict[str, Any]:
        """By how much each total has grown; None where it has not, or is not known."""
        grown: dict[str, Any] = {}
        for key, value in totals.items():
            before = self._last.get(key)
            grown[key] = value if before is None or value is None else max(value - before, 0) or None
            if value is not None and (before is None or value > before):
                self._last[key] = value
        return grown


class Ledger:
    """Sums of what calls carry, to compare with the totals that a trace states."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}

    def add(self, call: Call) -> Call:
        """Count a call; it is given back."""
        for key in (*CLASSES, "cost_usd"):
            value = getattr(call, key)
            if value is not None:
                self._sums[key] = self._sums.get(key, 0) + value
        return call

    def rest(
        self, tokens: TokenClasses | None = None, *, cost_usd: float | None = None, **fields: Any
    ) -> tuple[Call, ...]:
        """An event ``usage`` of kind ``system`` with what the totals have beyond the calls, if anything.

        A total of 0 is told where no call tells of it.

        Args:
            tokens: Totals by class.
            cost_usd: Total cost.
            fields: Other fields of the event.
        """
        beyond: dict[str, Any] = {}
        for key, total in {**(tokens or {}), "cost_usd": cost_usd}.items():
            if isinstance(total, int | float) and total - self._sums.get(key, 0) > _ROUNDING:
                beyond[key] = total - self._sums.get(key, 0)
            elif total == 0 and key not in self._sums:
                beyond[key] = total
        return (self.add(Call(kind="system", name="usage", **fields, **beyond)),) if beyond else ()
