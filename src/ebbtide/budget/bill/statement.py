"""The bill as people read it: the sums of a ledger, each with its share of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import tzinfo

from ebbtide.budget.bill.bill import (
    WASTED,
    Amount,
    Bill,
    BillLine,
    CacheMisses,
    CarriedEvent,
    ContextPart,
    TokenClass,
    WasteKind,
    WasteLine,
)
from ebbtide.budget.bill.context import Item
from ebbtide.budget.bill.ledger import QUARTER_S, Ledger, Sum, WasteSum
from ebbtide.budget.tally import usd
from ebbtide.clock import day_of

UNDATED = "undated"  #: the day of what has no time
_LISTED = 30
_COMPACTIONS = 100
_NO_TITLES: Mapping[str, str] = {}


def bill_of(
    ledger: Ledger, total_cost: int | None, total_tokens: int | None, *, zone: tzinfo | None = None
) -> Bill:
    """The sums as a bill, without its sentence and suggestions.

    Args:
        total_cost: Units that were spent in all; None where nothing of it is known.
        total_tokens: Tokens likewise.
        zone: By whose calendar a day begins; None takes that of this machine.
    """
    spent = ledger.spent
    rest = Sum((total_cost or 0) - spent.cost, (total_tokens or 0) - spent.tokens)
    if rest.cost or rest.tokens:
        ledger.leave("spending of no event", rest.cost, rest.tokens)
        ledger.book(rest.cost, rest.tokens)
    view = _View(total_cost, total_tokens or 0)
    waste = [view.waste(kind, ledger) for kind, part in ledger.waste_sums.items() if part.cost or part.tokens]
    return Bill(
        total=view.amount(total_cost or 0, total_tokens or 0),
        unattributed=view.sum(ledger.parts.get(ContextPart.UNATTRIBUTED, Sum())),
        why_unattributed=view.lines(ledger.unattributed.items()),
        classes=tuple(view.line(name, ledger.classes[name]) for name in TokenClass if name in ledger.classes),
        contents=view.lines((part.value, sums) for part, sums in ledger.parts.items()),
        models=view.lines(ledger.models.items()),
        days=_days(ledger, view, zone),
        agents=view.lines(ledger.agents.items(), ledger.tasks),
        tools=view.lines(ledger.tools.items()),
        files=view.lines(ledger.files.items()),
        requests=tuple(
            view.line(item.text, item.sum, item.event) for item in ledger.requests if item.sum.count
        ),
        phases=_phases(ledger, view),
        events=tuple(
            view.event(item)
            for cost, tokens, _, item in sorted(ledger.dearest, key=lambda entry: entry[:3], reverse=True)
            if cost or tokens
        ),
        failures=view.line("failed calls", ledger.failures) if ledger.failures.count else None,
        misses=CacheMisses(
            calls=ledger.misses.count,
            tokens=ledger.misses.tokens,
            above_hit=view.sum(ledger.misses),
            after_pauses=ledger.late_misses.count,
            pauses_above_hit=view.sum(ledger.late_misses),
            longest_pause_s=ledger.longest_pause_s,
        ),
        compactions=tuple(sorted(ledger.compactions, key=lambda item: item.event)[:_COMPACTIONS]),
        context=tuple(ledger.sizes),
        wasted=view.together(part for kind, part in ledger.waste_sums.items() if kind in WASTED),
        avoidable=view.together(part for kind, part in ledger.waste_sums.items() if kind not in WASTED),
        waste=tuple(sorted(waste, key=lambda item: item.amount.share, reverse=True)),
        stated=ledger.settled,
        is_least=ledger.is_least and ledger.settled is None,
        is_estimated=ledger.is_estimated,
    )


def _days(ledger: Ledger, view: _View, zone: tzinfo | None) -> tuple[BillLine, ...]:
    days: dict[str, Sum] = {}
    for quarter, part in ledger.quarters.items():
        name = UNDATED if quarter is None else day_of(quarter * QUARTER_S, zone)
        day = days.setdefault(name, Sum())
        day.add(part.cost, part.tokens)
        day.count += part.count
        day.unpriced += part.unpriced
    return tuple(view.line(name, day) for name, day in sorted(days.items()))


def _phases(ledger: Ledger, view: _View) -> tuple[BillLine, ...]:
    first, latest, spent = ledger.first_change, ledger.latest_change, ledger.spent
    if first is None or latest is None or not ledger.is_dated:
        return ()
    changing = Sum(latest.cost - first.cost, latest.tokens - first.tokens)
    after = Sum(spent.cost - latest.cost, spent.tokens - latest.tokens)
    return (
        view.line("before the first change", first),
        view.line("changing", changing),
        view.line("after the last change", after),
    )


class _View:
    """Amounts as shares of one whole: of its money where that is known, else of its tokens."""

    def __init__(self, cost: int | None, tokens: int) -> None:
        self._cost = cost
        self._tokens = tokens

    def amount(self, cost: int, tokens: int) -> Amount:
        """Units and tokens."""
        part, whole = (cost, self._cost) if self._cost else (tokens, self._tokens)
        share = part / whole if whole else 0.0
        return Amount(cost_usd=None if self._cost is None else usd(cost), tokens=tokens, share=share)

    def sum(self, part: Sum | WasteSum) -> Amount:
        """A sum of the ledger; without a cost where none of its events has one."""
        amount = self.amount(part.cost, part.tokens)
        if isinstance(part, Sum) and part.unpriced and part.unpriced == part.count:
            return replace(amount, cost_usd=None)
        return amount

    def together(self, parts: Iterable[WasteSum]) -> Amount:
        """Several sums as one."""
        parts = tuple(parts)
        return self.amount(sum(part.cost for part in parts), sum(part.tokens for part in parts))

    def line(self, name: str, part: Sum, event: int | None = None, title: str = "") -> BillLine:
        """A line of a breakdown."""
        return BillLine(
            name=name,
            amount=self.sum(part),
            first=self.amount(part.entry_cost, part.entry_tokens),
            count=part.count,
            failures=part.failures,
            event=event,
            title=title,
        )

    def lines(
        self, sums: Iterable[tuple[str, Sum]], titles: Mapping[str, str] = _NO_TITLES
    ) -> tuple[BillLine, ...]:
        """Lines, the most expensive first; `titles` are words for names that are ids."""
        lines = sorted(
            (self.line(name, part, title=titles.get(name, "")) for name, part in sums),
            key=lambda item: (item.amount.share, item.amount.tokens),
            reverse=True,
        )
        return tuple(lines[:_LISTED])

    def waste(self, kind: WasteKind, ledger: Ledger) -> WasteLine:
        """One kind of waste."""
        part = ledger.waste_sums[kind]
        return WasteLine(
            kind=kind,
            amount=self.sum(part),
            count=part.count,
            events=part.events,
            example=part.example,
            tools=self.lines((tool, sums) for (of, tool), sums in ledger.waste_tools.items() if of is kind),
        )

    def event(self, item: Item) -> CarriedEvent:
        """One event."""
        return CarriedEvent(
            event=item.event,
            content=item.part,
            title=item.title,
            tool=item.tool,
            size=item.size,
            reads=item.reads,
            amount=self.amount(item.cost, item.reading),
            is_estimated=item.is_estimated,
        )
