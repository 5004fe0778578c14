"""What one call of a model paid in each class of tokens."""

from __future__ import annotations

from collections.abc import Sequence

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
    charge = Charge(event=event, hits=hits, writes=writes, fresh=fresh, output=output, cost=cost)
    if cost is None:
        return charge
    counts = (fresh, output, hits, writes)
    weights = _weights(counts, rates)
    if weights is None:
        rates, weights = _USUAL, _weights(counts, _USUAL) or [0.0] * 4
        charge.is_estimated = sum(count > 0 for count in counts) > 1
    total = sum(weights)
    if not total:
        charge.is_split = not cost
        return charge
    charge.is_split = True
    costs = [round(cost * (weight / total)) for weight in weights]
    costs[max(range(4), key=weights.__getitem__)] += cost - sum(costs)
    charge.fresh_cost, charge.output_cost, charge.hit_cost, charge.write_cost = costs
    if rates is not None and rates.cache_read is not None:
        charge.hit_rate = cost * (rates.cache_read / total)
    return charge


def _weights(counts: Sequence[int], rates: Rates | None) -> list[float] | None:
    """What tokens cost by class, in any unit; None where that of one class is not known."""
    if rates is None:
        return None
    weights = [0.0] * len(counts)
    for place, (count, rate) in enumerate(zip(counts, rates, strict=True)):
        if count:
            if rate is None:
                return None
            weights[place] = count * rate
    return weights


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
