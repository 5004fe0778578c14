"""Costs of calls that count once, in whole units: by what a record states, else by their prices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import NamedTuple

from ebbtide.budget.ledger.call_ledger import CallPlace, CountedCall
from ebbtide.budget.prices import Prices
from ebbtide.budget.reconciling import ModelSum, settle
from ebbtide.budget.tally import units
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage, rows_by_model


class SessionTotal(NamedTuple):
    """The sum over all of its calls that a file states.

    Args:
        ts: When it says so, in seconds since 1970.
        rows: By model, or one without a model for all of them.
    """

    ts: float | None
    rows: tuple[Usage, ...]


class StatedTotals:
    """The totals that files state of sessions: of files that state one of the same session one counts."""

    def __init__(self) -> None:
        self._of: dict[str, list[tuple[CallPlace, float | None, tuple[Usage, ...]]]] = {}

    def add(self, place: CallPlace, ts: float | None, sessions: Mapping[str, Mapping[str, Usage]]) -> None:
        """Take what a file states.

        Args:
            sessions: By the id of a session and by model, `""` for all models.
        """
        for session, models in sessions.items():
            self._of.setdefault(session or place.path, []).append((place, ts, tuple(models.values())))

    def by_place(self) -> dict[CallPlace, SessionTotal]:
        """The total of each file; of copies that of the one that began first, none of the others."""
        found: dict[CallPlace, SessionTotal] = {}
        for claims in self._of.values():
            place, ts, rows = min(claims, key=_order_of_claim)
            before = found.get(place, SessionTotal(None, ()))
            found[place] = SessionTotal(ts, (*before.rows, *rows))
        return {place: item._replace(rows=rows_by_model(item.rows)) for place, item in found.items()}

    def elsewhere(self) -> set[CallPlace]:
        """The files whose totals other files state too, which count instead."""
        return {place for claims in self._of.values() for place, *_ in claims} - self.by_place().keys()


def _order_of_claim(claim: tuple[CallPlace, float | None, tuple[Usage, ...]]) -> tuple[float, float, str]:
    place, _, rows = claim
    stated = sum((row.cost_usd or 0.0) for row in rows), sum(row.tokens or 0 for row in rows)
    return (-stated[0] or -stated[1], inf if place.began is None else place.began, place.path)


def units_of(call: CountedCall, prices: Prices | None) -> int | None:
    """The units of money of a call; None where nobody knows.

    Args:
        prices: Prices of tokens; None knows what records state alone.
    """
    if call.settled is not None:
        return call.settled
    usage = call.usage
    usage.tier = call.tier
    if not usage.has_tokens and usage.cost_usd is None:
        return 0
    cost = usage.cost_usd if prices is None else prices.cost(usage, call.ts)
    return None if cost is None else units(cost)


def settled(
    calls: Iterable[CountedCall], stated: Mapping[CallPlace, SessionTotal], prices: Prices | None
) -> Iterator[CountedCall]:
    """The calls, and for each file that states a total what that has above or below them.

    Args:
        stated: What files state, if anything.
    """
    sums: dict[CallPlace, dict[str, ModelSum]] = {place: {} for place in stated}
    for call in calls:
        models = sums.get(call.owner)
        if models is None:
            yield call
            continue
        cost = units_of(call, prices)
        is_unpriced = cost is None and call.usage.has_tokens
        models.setdefault(call.usage.model or "", ModelSum()).add(call.usage, cost, is_unpriced=is_unpriced)
        has_cost = any(row.cost_usd is not None for row in stated[call.owner].rows)
        # What nobody knows is a part of what is stated.
        yield call._replace(settled=cost or 0) if has_cost else call
    for place, models in sums.items():
        ts, rows = stated[place]
        for number, item in enumerate(settle(rows, models, prices, ts=ts).remainders):
            if item.usage.has_tokens or item.cost:
                yield CountedCall(
                    CallId.at(place.path, f"stated {number}"),
                    ts,
                    item.usage,
                    item.usage.tier,
                    place,
                    settled=item.cost,
                    is_model=False,
                )
