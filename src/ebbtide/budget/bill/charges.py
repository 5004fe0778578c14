"""What one call of a model paid in each class of tokens."""

from __future__ import annotations

from ebbtide.budget.bill.context import Charge
from ebbtide.budget.prices import Rates
from ebbtide.events.usage import MOST_TOKENS, Usage

#: How most providers charge, in proportion to fresh input: what stands in for a price list that nobody has.
_USUAL = Rates(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25)


def charge_of(event: int, usage: Usage, cost: int | None, rates: Rates | None) -> Charge:
    """The charge of a call.

    The classes add up to the cost, to the unit. What the provider states may differ from the price list: it
    is shared out as the list would. Without a list, it is shared out as most providers charge, and marked.

    Args:
        event: Its number in the run.
        usage: What it took.
        cost: Units that it was counted with; None where nobody knows them.
        rates: What its model costs; None where nobody knows.
    """
    hits, writes, fresh, output = tokens_by_class(usage)
    charge = Charge(event, hits, writes, fresh, output, cost, hits + writes + fresh)
    charge.is_stated = usage.stated_cost is not None
    if cost is None:
        return charge
    weights = None if rates is None else _weights(fresh, output, hits, writes, rates)
    if weights is None or rates is None:
        rates = _USUAL
        weights = _weights(fresh, output, hits, writes, _USUAL) or (0.0, 0.0, 0.0, 0.0)
        charge.is_estimated = (fresh > 0) + (output > 0) + (hits > 0) + (writes > 0) > 1
    total = sum(weights)
    if not total:
        charge.is_split = not cost
        return charge
    charge.is_split = True
    scale = cost / total
    costs = [round(scale * weight) for weight in weights]
    rest = cost - sum(costs)
    if rest:
        costs[max(range(4), key=weights.__getitem__)] += rest
    charge.fresh_cost, charge.output_cost, charge.hit_cost, charge.write_cost = costs
    if rates.cache_read is not None:
        charge.hit_rate = scale * rates.cache_read
    return charge


def _weights(
    fresh: int, output: int, hits: int, writes: int, rates: Rates
) -> tuple[float, float, float, float] | None:
    """What tokens cost by class, in any unit; None where that of one class is not known."""
    fresh_rate, output_rate, hit_rate, write_rate = rates[:4]
    if (
        (fresh and fresh_rate is None)
        or (output and output_rate is None)
        or (hits and hit_rate is None)
        or (writes and write_rate is None)
    ):
        return None
    return (
        fresh * (fresh_rate or 0.0),
        output * (output_rate or 0.0),
        hits * (hit_rate or 0.0),
        writes * (write_rate or 0.0),
    )


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
