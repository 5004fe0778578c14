"""Totals that a record states of a whole run, held against its calls: tokens and dollars together, by model.

The stated dollars are what was charged: what the calls come to by list price is taken off. Of what remains,
the tokens that no call states are booked at list price, and the rest is shared out over all of them. A stated
total is never added to the calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ebbtide.budget.prices import Prices, Rates, counts_by_rate
from ebbtide.events.usage import COUNTS, MOST_TOKENS, Usage

_EQUAL: Final = 1e-3  # of the total: rounding on either side
_UNITS: Final = 10**12
_PROMPT: Final = ("input_tokens", "cache_read_tokens", "cache_write_tokens")
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedTotal:
    """A total that the record states, beside what the calls of the run come to.

    Args:
        cost_usd: Dollars as stated; None where tokens alone are.
        computed_usd: Dollars of the same tokens by list price; None where a model has no known price.
        difference_usd: What is stated above that.
        tokens: Tokens as stated; None where none are.
        equal: Whether both agree within 0.1 %; None where one is not known.
        cause: What explains the difference; None where there is none.
        source: The record that states it.
    """

    cost_usd: float | None = None
    computed_usd: float | None = None
    difference_usd: float | None = None
    tokens: int | None = None
    equal: bool | None = None
    cause: str | None = None
    source: str = ""


@dataclass(slots=True)
class ModelSum:
    """Sums of the calls of one model so far.

    Args:
        cost: Units of money of calls whose price is known.
        unpriced: Calls with tokens whose price is not.
        counts: Tokens by class and part, in the order of `COUNTS`.
    """

    cost: int = 0
    unpriced: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * len(COUNTS))

    def add(self, usage: Usage, cost: int | None, *, is_unpriced: bool) -> None:
        """Counts what an event took."""
        self.cost += cost or 0
        self.unpriced += is_unpriced
        for place, name in enumerate(COUNTS):
            count = getattr(usage, name)
            if type(count) is int and 0 < count <= MOST_TOKENS:
                self.counts[place] += count


class Remainder(NamedTuple):
    """Part of a stated total beyond the calls of one model.

    Args:
        usage: The tokens that no call states, with the model.
        cost: Units of money beyond those of the calls; less than 0 where the calls came to more by list.
        list_cost: Units that the tokens cost by list price; None where nobody knows.
        rates: The list price.
        priced: Calls whose price was not known, and now is a part of the total.
        listed: Units of the calls and of these tokens by list price; None where nobody knows.
    """

    usage: Usage
    cost: int | None
    list_cost: int | None
    rates: Rates | None
    priced: int
    listed: int | None


class Settlement(NamedTuple):
    """A stated total beside the calls."""

    remainders: tuple[Remainder, ...]
    total: StatedTotal


def settle(
    stated: Iterable[Usage],
    counted: Mapping[str, ModelSum],
    prices: Prices | None,
    *,
    ts: float | None = None,
    source: str = "",
) -> Settlement:
    """Holds a stated total against the calls.

    Args:
        stated: What the run took by model; without a model, what all of it took.
        counted: What its calls took by model.
        source: The record that states it.
    """
    rows = sorted(stated, key=lambda row: row.model is None)
    remainders: list[Remainder] = []
    for row in rows:
        item = _remainder(row, _calls_of(row, counted), prices, ts)
        if row.model is None and item.cost is not None:
            # What models state of their own is a part of it.
            item = item._replace(cost=item.cost - sum(other.cost or 0 for other in remainders))
        remainders.append(item)
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    cost = sum(costs) if costs else None
    tokens = [row.tokens for row in rows if row.tokens is not None]
    listed = [item.listed for item in remainders]
    computed = None if None in listed else sum(filter(None, listed)) / _UNITS
    difference = None if cost is None or computed is None else cost - computed
    equal = None if difference is None or cost is None else abs(difference) <= _EQUAL * cost + 1e-9
    total = StatedTotal(
        cost_usd=cost,
        computed_usd=computed,
        difference_usd=difference,
        tokens=sum(tokens) if tokens else None,
        equal=equal,
        cause=None if equal or cost is None else _cause(rows, remainders, counted),
        source=source,
    )
    return Settlement(tuple(remainders), total)


def _calls_of(row: Usage, counted: Mapping[str, ModelSum]) -> ModelSum:
    """Returns the calls of the model of a row, under a longer or shorter name too; all without a model."""
    if row.model is None:
        whole = ModelSum()
        for part in counted.values():
            whole.cost += part.cost
            whole.unpriced += part.unpriced
            whole.counts = [one + other for one, other in zip(whole.counts, part.counts, strict=True)]
        return whole
    name = row.model
    if name not in counted:
        near = (one for one in counted if one and (one.startswith(name) or name.startswith(one)))
        name = next(near, name)
    return counted.get(name, ModelSum())


def _remainder(row: Usage, calls: ModelSum, prices: Prices | None, ts: float | None) -> Remainder:
    usage = Usage(model=row.model, tier=row.tier)
    for place, name in enumerate(COUNTS):
        amount = getattr(row, name)
        if amount is not None and amount > calls.counts[place]:
            setattr(usage, name, amount - calls.counts[place])
    usage.drop_impossible_parts()
    # Sums of many calls are as long as none of them: what long inputs cost is no price of theirs.
    rates = None if prices is None or row.model is None else prices.rates(row.model, ts=ts, tier=row.tier)
    list_cost = _cost_of(usage, rates)
    listed = None if calls.unpriced or list_cost is None else calls.cost + list_cost
    if row.cost_usd is None:
        return Remainder(usage, list_cost, list_cost, rates, 0, listed)
    cost = round(row.cost_usd * _UNITS) - calls.cost
    return Remainder(usage, cost, list_cost, rates, calls.unpriced, listed)


def _cost_of(usage: Usage, rates: Rates | None) -> int | None:
    if not usage.has_tokens:
        return 0
    cost = None if rates is None else rates.cost(counts_by_rate(usage))
    return None if cost is None else round(cost * (_UNITS // 10**6))


def _cause(
    rows: Sequence[Usage],
    remainders: Sequence[Remainder],
    counted: Mapping[str, ModelSum],
) -> str:
    """Returns what explains that a stated cost is another than the list's, by the first row that differs."""
    for row, item in zip(rows, remainders, strict=True):
        cost = item.listed
        if cost is None:
            tokens = row.tokens or sum(_calls_of(row, counted).counts[:4])
            return f"no known price for {row.model or 'some of its models'} ({tokens:,} tokens)"
        stated = round((row.cost_usd or 0.0) * _UNITS)
        if abs(stated - cost) <= _EQUAL * stated:
            continue
        name = row.model or "the run"
        before = sum(getattr(item.usage, key) or 0 for key in _PROMPT)
        if before and any(_calls_of(row, counted).counts):
            return f"calls of {name} that are not in the file ({before:,} tokens of prompts)"
        writes = _calls_of(row, counted).counts[COUNTS.index("cache_write_tokens")]
        if _is_lifetime(stated - cost, writes, item.rates):
            return f"{writes:,} tokens that {name} wrote to a cache, which do not say for how long"
        factor = stated / cost if cost else 0.0
        if factor and abs(factor - round(factor, 2)) <= _EQUAL * factor:
            return f"{name} at {factor:.2f} times its list price"
        return _UNKNOWN
    return _UNKNOWN


def _is_lifetime(difference: int, writes: int, rates: Rates | None) -> bool:
    """Returns True if a difference lies within what an hour in the cache costs above five minutes."""
    if rates is None or rates.cache_write is None or rates.cache_write_1h is None:
        return False
    most = writes * (rates.cache_write_1h - rates.cache_write) * (_UNITS // 10**6)
    return 0 < difference <= most * (1 + _EQUAL)
