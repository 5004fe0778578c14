"""The cost of an event whose source told tokens and no price."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

from ebbtide.budget.prices import Prices
from ebbtide.errors import ConfigError
from ebbtide.events.event import Call
from ebbtide.events.usage import Usage

_CACHED = 4096  # prices of equal counts; a look-up in the public table takes a fifth of a millisecond


def has_tokens(call: Call) -> bool:
    """Whether an event tells tokens of any class."""
    return (
        call.input_tokens is not None
        or call.output_tokens is not None
        or call.cache_read_tokens is not None
        or call.cache_write_tokens is not None
    )


class Pricer:
    """Fills in what an event cost, where its model has a known price.

    Args:
        prices: What tokens cost.
    """

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._cost = lru_cache(maxsize=_CACHED)(self._ask)

    def priced(self, call: Call) -> Call:
        """The event with its cost; the event itself where that was told, or nobody knows it."""
        if call.cost_usd is not None or call.model is None or not has_tokens(call):
            return call
        cost = self._cost(
            call.model,
            call.input_tokens,
            call.output_tokens,
            call.cache_read_tokens,
            call.cache_write_tokens,
        )
        return call if cost is None else dataclasses.replace(call, cost_usd=cost)

    def _ask(
        self,
        model: str,
        input_tokens: int | None,
        output_tokens: int | None,
        cache_read_tokens: int | None,
        cache_write_tokens: int | None,
    ) -> float | None:
        try:
            usage = Usage(
                model=model,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                cache_read_tokens=cache_read_tokens,
                cache_write_tokens=cache_write_tokens,
            )
        except ConfigError:
            return None
        return self._prices.cost(usage)
