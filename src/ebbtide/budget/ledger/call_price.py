"""Costs of calls that count once, in whole units: by what a record states, else by their prices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ebbtide.budget.ledger.call_ledger import CallPlace, CountedCall
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import units
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage


class StatedCost(NamedTuple):
    """The cost of all of its calls, as a file states it.

    Args:
        ts: When it says so, in seconds since 1970.
        cost_usd: Dollars.
    """

    ts: float | None
    cost_usd: float


def units_of(call: CountedCall, prices: Prices | None) -> int | None:
    """The units of money of a call; None where nobody knows.

    Args:
        call: The call.
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
    calls: Iterable[CountedCall], stated: Mapping[CallPlace, StatedCost], prices: Prices | None
) -> Iterator[CountedCall]:
    """The calls, and for each file that states what they cost the difference: less than 0 where that is less.

    Args:
        calls: Each once.
        stated: What files state, if anything.
        prices: As for `units_of`.
    """
    rests = {place: units(item.cost_usd) for place, item in stated.items()}
    for call in calls:
        if call.owner in rests:
            cost = units_of(call, prices) or 0  # what nobody knows is a part of what is stated
            rests[call.owner] -= cost
            yield call._replace(settled=cost)
        else:
            yield call
    for place, rest in rests.items():
        if rest:
            name = CallId.at(place.path, "stated")
            ts = stated[place].ts
            yield CountedCall(name, ts, Usage(), None, place, (), None, None, None, settled=rest)
