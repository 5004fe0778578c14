"""Prices of tokens.

The user's own table comes first, then the public one. A price that nobody knows is None, and counted: it is
never taken for zero.
"""

from __future__ import annotations

import threading
import time
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache, lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ebbtide.budget.public_prices import PublicPrice, public_prices
from ebbtide.checks import number
from ebbtide.errors import ConfigError, expect, shown
from ebbtide.events.usage import Usage, possible_part
from ebbtide.settings_file import read_settings
from ebbtide.text.name_table import NameTable

_CLASSES = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
    "cache_write_1h": "cache_write_1h_tokens",
}
_TIERS = "tiers"
_FACTORS = Path(__file__).with_name("tier_factors.toml")
_MOST_FACTOR = 1e4
_MOST_UNKNOWN = 256  # models that are counted by name
_PER = 1_000_000  # tokens that a price is for
_CACHED = 4096  # at a time; a look-up in the public table takes a fifth of a millisecond
_PERIOD_S = 900.0  # prices that change do so at some quarter of an hour
_EARLIEST_TS, _LATEST_TS = 1.5e9, 1e11  # 2017 to 5138: what is outside counts from some other start


class Rates(NamedTuple):
    """USD per million tokens, by class; None where nobody knows.

    >>> Prices({"small-*": {"input": 0.25}}, public=False).rates("small-2")
    Rates(input=0.25, output=None, cache_read=None, cache_write=None, cache_write_1h=None)
    """

    input: float | None
    output: float | None
    cache_read: float | None
    cache_write: float | None
    cache_write_1h: float | None = None  #: of those that stay for an hour

    def times(self, factor: float) -> Rates:
        """Returns the rates in a tier that costs so many times as much."""
        return Rates(*(None if rate is None else rate * factor for rate in self))

    def cost(self, counts: Sequence[int]) -> float | None:
        """Returns millionths of a dollar for tokens by class; None where a rate is missing that is needed."""
        total = 0.0
        for rate, count in zip(self, counts, strict=True):
            if count:
                if rate is None:
                    return None
                total += count * rate
        return total


def counts_by_rate(usage: Usage) -> tuple[int, int, int, int, int]:
    """Returns the tokens of a usage by class, in the order of `Rates`."""
    writes = usage.cache_write_tokens or 0
    hour = possible_part(usage.cache_write_1h_tokens, writes) or 0
    reads = usage.cache_read_tokens or 0
    return usage.input_tokens or 0, usage.output_tokens or 0, reads, writes - hour, hour


_Steps = tuple[tuple[int, Rates], ...]  # from a length of the input on, the longest first


class Prices:
    """Prices by model.

    Args:
        table: For each model, or pattern of models, USD per million tokens by class: ``input``, ``output``,
            ``cache_read``, ``cache_write``, and ``cache_write_1h`` for what stays in a cache for an hour. A
            class that is left out has no known price. ``tiers`` may say by how much prices are multiplied in
            another tier of the service: ``{"priority": 2.0}``.
        public: Ask the public table about models that this one does not have.

    Raises:
        ConfigError: A class that does not exist, or a price that is negative, infinite or no number.

    >>> prices = Prices({"small-*": {"input": 0.25, "output": 2.0}}, public=False)
    >>> prices.cost(Usage(model="small-2", input_tokens=2_000_000, output_tokens=1_000_000))
    2.5
    >>> prices.cost(Usage(model="large", input_tokens=1)), prices.unknown
    (None, {'large': 1})
    """

    def __init__(self, table: Mapping[str, Mapping[str, Any]] | None = None, *, public: bool = True) -> None:
        expect("table", table, Mapping, optional=True)
        for model, classes in (table or {}).items():
            _check(model, classes)
        self._table = NameTable(table or {})
        self._public = public
        self._unknown: dict[str, int] = {}
        self._models: dict[str, PublicPrice | None] = {}
        self._steps: dict[tuple[str, str | None, int], _Steps] = {}
        # Re-entrant, since a stream that was let go is settled whenever the garbage collector comes by.
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"} | {
            "_models": {},
            "_steps": {},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    def __copy__(self) -> Prices:
        return deepcopy(self)

    @classmethod
    def load(cls, path: str | PathLike[str], *, public: bool = True) -> Prices:
        """The prices in the table ``[prices]`` of a TOML file: ``[prices."small-*"]`` and so on.

        Raises:
            ConfigError: No such file, not TOML, no such table, or a price that cannot be.
        """
        return read_settings(path, lambda table: cls(table, public=public), section="prices")

    @property
    def unknown(self) -> dict[str, int]:
        """The models whose cost was asked for in vain, and how often; ``""`` where no model was named."""
        with self._lock:
            return dict(self._unknown)

    @property
    def mark(self) -> str:
        """A text that differs wherever a price may."""
        return repr((self._table.items, self._public and public_prices().edition))

    @property
    def origin(self) -> str:
        """Origin of the prices, in words; empty where there are none."""
        own = "own prices" if self._table else ""
        if not self._public:
            return own
        public = f"public prices of genai-prices {public_prices().edition}"
        return f"{own}, then {public}" if own else public

    def cost(self, usage: Usage, ts: float | None = None) -> float | None:
        """Dollars for what was used, or None where nobody knows.

        What the provider states comes first. A class of tokens that is not stated counts as none of it.

        Args:
            ts: When, in seconds since 1970; a time that is none of a calendar counts as now.
        """
        expect("usage", usage, Usage)
        stated = usage.stated_cost
        if stated is not None:
            return stated
        model = usage.model or ""
        cost = None
        if usage.tokens is not None:
            counts = counts_by_rate(usage)
            rates = self.rates(model, input_tokens=sum(counts) - counts[1], ts=ts, tier=usage.tier)
            cost = None if rates is None else rates.cost(counts)
        if cost is None:
            self._count_unknown(model)
            return None
        return cost / _PER

    def rates(
        self, model: str, *, input_tokens: int = 0, ts: float | None = None, tier: str | None = None
    ) -> Rates | None:
        """Returns the price of a model by class of tokens; None where nobody knows the model, or its tier.

        Args:
            input_tokens: All that the call reads, cached or not: some models cost more from a length on.
            tier: Of the service, as in `Usage`; None for the standard one.
        """
        expect("model", model, str)
        classes = self._table.get(model)
        factor = None
        if classes is not None:
            rates: Rates | None = Rates(**{name: classes.get(name) for name in _CLASSES})
            factor = classes.get(_TIERS, {}).get(tier)
        else:
            in_tier = None if tier is None else self._public_rates(model, tier, input_tokens, ts)
            if in_tier is not None:
                return in_tier
            rates = self._public_rates(model, None, input_tokens, ts)
        if tier is None or rates is None:
            return rates
        factor = tier_factor(model, tier) if factor is None else factor
        return None if factor is None else rates.times(factor)

    def _public_rates(
        self, model: str, tier: str | None, input_tokens: int, ts: float | None
    ) -> Rates | None:
        """The public rates of a model for an input of a length; None for a tier without its own."""
        if not self._public or not model:
            return None
        price = self._price(model)
        if price is None:
            return None
        at = ts if ts is not None and _EARLIEST_TS <= ts <= _LATEST_TS else time.time()
        period = int(at // _PERIOD_S) if price.starts is None else bisect_right(price.starts, at)
        key = (model, tier, period)
        steps = self._steps.get(key)
        if steps is None:
            found = price.rates(datetime.fromtimestamp(at, UTC), tier) or ()
            steps = tuple((start, Rates(*rates)) for start, rates in found)
            with self._lock:
                if len(self._steps) >= _CACHED:
                    self._steps.clear()
                self._steps[key] = steps
        return next((rates for start, rates in steps if input_tokens > start), None)

    def _price(self, model: str) -> PublicPrice | None:
        if model not in self._models:
            price = public_prices().price(model)
            with self._lock:
                if len(self._models) >= _CACHED:
                    self._models.clear()
                self._models[model] = price
            return price
        return self._models.get(model)

    def _count_unknown(self, model: str) -> None:
        with self._lock:
            if model in self._unknown or len(self._unknown) < _MOST_UNKNOWN:
                self._unknown[model] = self._unknown.get(model, 0) + 1


@cache
def _public_factors() -> NameTable[Mapping[str, float]]:
    return NameTable(tomllib.loads(_FACTORS.read_text(encoding="utf-8"))["factors"])


@lru_cache(_CACHED)
def tier_factor(model: str, tier: str) -> float | None:
    """Returns the factor on the list price of a model in a tier; None where nobody knows.

    >>> tier_factor("gpt-5.4", "priority"), tier_factor("claude-opus-4-6", "fast"), tier_factor("x", "fast")
    (2.0, 6.0, None)
    """
    factors = _public_factors()
    return next((of[tier] for of in factors.all_of(model) if tier in of), None)


def _checked_tiers(model: str, tiers: Any) -> Iterable[tuple[Any, Any]]:
    if not isinstance(tiers, Mapping):
        raise ConfigError(f"tiers of {shown(model)} = {shown(tiers)}: expected a table: priority = 2.0")
    return tiers.items()


def _check(model: str, classes: Any) -> None:
    if not isinstance(classes, Mapping):
        raise ConfigError(f"prices of {shown(model)}: expected a table with {', '.join(_CLASSES)}")
    for tier, factor in _checked_tiers(model, classes.get(_TIERS, {})):
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 <= factor <= _MOST_FACTOR:
            raise ConfigError(
                f"tier {shown(tier)} of {shown(model)} = {shown(factor)}: expected by how much to multiply"
            )
    for name, price in classes.items():
        if name == _TIERS:
            continue
        if name not in _CLASSES:
            raise ConfigError(
                f"prices of {shown(model)}: no class {shown(name)}; there are {', '.join(_CLASSES)}"
            )
        what = f"{name} price of {shown(model)}"
        number(what, price, least=0, most=1e9, expected="USD per million tokens")
