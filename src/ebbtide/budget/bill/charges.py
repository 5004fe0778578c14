"""Payments of one call of a model, by class of tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ebbtide.budget.bill.context import Charge
from ebbtide.budget.prices import Rates
from ebbtide.events.usage import MOST_TOKENS, Usage, possible_part

#: How most providers charge, in proportion to fresh input: what stands in for a price list that nobody has.
_USUAL = Rates(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25, cache_write_1h=2.0)


def charge_of(event: int, usage: Usage, cost: int | None, rates: Rates | None) -> Charge:
    """The charge of a call.

    The classes add up to the cost, to the unit. What the provider states may differ from the price list: it
    is shared out as the list would. Without a list, it is shared out as most providers charge, and marked.

    Args:
        cost: Units that it was counted with; None where nobody knows them.
        rates: What its model costs; None where nobody knows.
    """
    hits, writes, fresh, output = tokens_by_class(usage)
    charge = Charge(event, hits, writes, fresh, output, cost, hits + writes + fresh)
    charge.is_stated = usage.stated_cost is not None
    charge.long_writes = possible_part(usage.cache_write_1h_tokens, writes) or 0
    if cost is None:
        return charge
    counts = (fresh, output, hits, writes - charge.long_writes, charge.long_writes)
    weights = None if rates is None else _weights(counts, rates)
    if weights is None or rates is None:
        rates = _USUAL
        weights = _weights(counts, _USUAL) or (0.0,) * len(counts)
        charge.is_estimated = sum(count > 0 for count in counts) > 1
    total = sum(weights)
    if not total:
        charge.is_split = not cost
        return charge
    charge.is_split = True
    scale = cost / total
    costs = [round(scale * weight) for weight in weights]
    rest = cost - sum(costs)
    if rest:
        costs[max(range(len(costs)), key=weights.__getitem__)] += rest
    charge.fresh_cost, charge.output_cost, charge.hit_cost, charge.write_cost, charge.long_write_cost = costs
    charge.write_cost += charge.long_write_cost
    if rates.cache_read is not None:
        charge.hit_rate = scale * rates.cache_read
    return charge


def scaled_charge(charge: Charge, scaled: Callable[[int], int]) -> Charge:
    """Returns a charge whose costs are scaled."""
    return replace(
        charge,
        cost=None if charge.cost is None else scaled(charge.cost),
        hit_cost=scaled(charge.hit_cost),
        write_cost=scaled(charge.write_cost),
        fresh_cost=scaled(charge.fresh_cost),
        output_cost=scaled(charge.output_cost),
        long_write_cost=scaled(charge.long_write_cost),
        miss_cost=scaled(charge.miss_cost),
        hit_rate=None,
    )


def _weights(counts: tuple[int, ...], rates: Rates) -> tuple[float, ...] | None:
    """Returns the costs of tokens by class of `Rates`, in any unit; None where one rate is not known."""
    weights = []
    for count, rate in zip(counts, rates, strict=True):
        if count and rate is None:
            return None
        weights.append(count * (rate or 0.0))
    return tuple(weights)


def tokens_by_class(usage: Usage) -> tuple[int, int, int, int]:
    """Tokens from the cache, written to it, read at the full price, and written; 0 where none are known."""
    return (
        _count(usage.cache_read_tokens),
        _count(usage.cache_write_tokens),
        _count(usage.input_tokens),
        _count(usage.output_tokens),
    )


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0
