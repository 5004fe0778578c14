"""What tokens cost.

The user's own table comes first, then the package `genai-prices` where it is installed. A price that nobody
knows is None, and counted: it is never taken for zero.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import threading
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache, lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

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
_AROUND = {"cache_read": "input", "cache_write": "input", "cache_write_1h": "cache_write"}
_MOST_UNKNOWN = 256  # models that are counted by name
_PER = 1_000_000  # tokens that a price is for
_CACHED = 4096  # models at a time; a look-up in the public table takes a fifth of a millisecond
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
        """The rates in a tier that costs so many times as much."""
        return Rates(*(None if rate is None else rate * factor for rate in self))


_Tiers = tuple[tuple[int, Rates], ...]


class Prices:
    """Prices by model.

    Args:
        table: For each model, or pattern of models, USD per million tokens by class: ``input``, ``output``,
            ``cache_read``, ``cache_write``, and ``cache_write_1h`` for what stays in a cache for an hour. A
            class that is left out has no known price. ``tiers`` may say by how much prices are multiplied in
            another tier of the service: ``{"priority": 2.0}``.
        public: Ask `genai-prices` about models that the table does not have. Its first answer takes most of a
            second: it is imported then.

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
        self._tiers: dict[tuple[str, int | None], _Tiers] = {}
        self._starts: dict[str, tuple[float, ...] | None] = {}
        # Re-entrant, since a stream that was let go is settled whenever the garbage collector comes by.
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

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
    def origin(self) -> str:
        """Where prices come from, in words; empty where there are none."""
        own = "own prices" if self._table else ""
        if not self._public:
            return own
        from importlib.metadata import PackageNotFoundError, version

        try:
            public = f"public prices of genai-prices {version('genai-prices')}"
        except PackageNotFoundError:
            return own
        return f"{own}, then {public}" if own else public

    def cost(self, usage: Usage, ts: float | None = None) -> float | None:
        """Dollars for what was used, or None where nobody knows.

        What the provider states comes first. A class of tokens that is not stated counts as none of it.

        Args:
            usage: What was used.
            ts: When, in seconds since 1970; a time that is none of a calendar counts as now.
        """
        expect("usage", usage, Usage)
        stated = usage.stated_cost
        if stated is not None:
            return stated
        model = usage.model or ""
        cost = None
        if usage.tokens is not None:
            writes = usage.cache_write_tokens or 0
            hour = possible_part(usage.cache_write_1h_tokens, writes) or 0
            reads = (usage.input_tokens or 0, usage.cache_read_tokens or 0)
            rates = self.rates(model, input_tokens=sum(reads) + writes, ts=ts, tier=usage.tier)
            counts = (reads[0], usage.output_tokens or 0, reads[1], writes - hour, hour)
            cost = None if rates is None else _sum(rates, counts)
        if cost is None:
            self._count_unknown(model)
        return cost

    def rates(
        self, model: str, *, input_tokens: int = 0, ts: float | None = None, tier: str | None = None
    ) -> Rates | None:
        """Returns the price of a model by class of tokens; None where nobody knows the model, or its tier.

        Args:
            model: Its name.
            input_tokens: All that the call reads, cached or not: some models cost more from a length on.
            ts: As for `cost`.
            tier: Of the service, as in `Usage`; None for the standard one.
        """
        expect("model", model, str)
        classes = self._table.get(model)
        if classes is not None:
            rates: Rates | None = Rates(**{name: classes.get(name) for name in _CLASSES})
        else:
            tiers = self._public_tiers(model, ts)
            rates = next((rates for start, rates in tiers if input_tokens > start), None)
        if tier is None or rates is None:
            return rates
        factor = (classes or {}).get(_TIERS, {}).get(tier)
        factor = tier_factor(model, tier) if factor is None else factor
        return None if factor is None else rates.times(factor)

    def _public_tiers(self, model: str, ts: float | None) -> _Tiers:
        """Rates from a length of the input on, the longest first; empty where the model is not known."""
        if not self._public or not model:
            return ()
        is_dated = ts is not None and _EARLIEST_TS <= ts <= _LATEST_TS
        key = (model, self._period(model, ts) if is_dated and ts is not None else None)
        tiers = self._tiers.get(key)
        if tiers is None:
            tiers = self._look_up(model, ts if is_dated else None)
            with self._lock:
                if len(self._tiers) >= _CACHED:
                    self._tiers.clear()
                self._tiers[model, self._period(model, ts) if is_dated and ts is not None else None] = tiers
        return tiers

    def _period(self, model: str, ts: float) -> int:
        """The number of a time in which the price of a model is one."""
        starts = self._starts.get(model)
        return int(ts // _PERIOD_S) if starts is None else bisect_right(starts, ts)

    def _look_up(self, model: str, ts: float | None) -> _Tiers:
        try:
            genai_prices = importlib.import_module("genai_prices")
        except ImportError:
            self._public = False
            return ()
        when = None if ts is None else datetime.fromtimestamp(ts, UTC)
        try:
            found = genai_prices.calc_price(
                genai_prices.Usage(input_tokens=0), model_ref=model, genai_request_timestamp=when
            )
        except (LookupError, ValueError):
            self._starts[model] = ()
            return ()
        self._starts[model] = _starts_of(found.model.prices)
        by_class = {name: getattr(found.model_price, f"{name}_mtok", None) for name in _CLASSES}
        starts = {tier.start for value in by_class.values() for tier in getattr(value, "tiers", ())}
        return tuple((start, _public_rates(by_class, start)) for start in (*sorted(starts, reverse=True), -1))

    def recall(self, path: Path) -> None:
        """Take the public rates that `keep` wrote, where they are those of the package that is installed.

        With them, nothing needs to import the package. A file that cannot be read gives nothing.

        Args:
            path: The file.
        """
        path = Path(path)
        if not self._public:
            return
        try:
            kept = json.loads(path.read_bytes())
            if kept["of"] != _package_mark():
                return
            starts = {model: tuple(map(float, times)) for model, times in kept["starts"].items()}
            tiers: dict[tuple[str, int | None], _Tiers] = {
                (str(model), int(period)): tuple((int(start), Rates(*rates)) for start, rates in rows)
                for model, period, rows in kept["tiers"]
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return
        with self._lock:
            self._starts |= starts
            self._tiers |= tiers

    def keep(self, path: Path) -> None:
        """Write the public rates that were asked for, as `recall` takes them; by renaming.

        Args:
            path: The file. Where it cannot be written, nothing is kept.
        """
        path = Path(path)
        if "genai_prices" not in sys.modules:
            return
        with self._lock:
            starts = {model: times for model, times in self._starts.items() if times is not None}
            tiers = [
                (model, period, rows)
                for (model, period), rows in self._tiers.items()
                if period is not None and model in starts
            ]
        other = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            other.write_text(json.dumps({"of": _package_mark(), "starts": starts, "tiers": tiers}))
            other.replace(path)

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


def _sum(rates: Rates, counts: Sequence[int]) -> float | None:
    total = 0.0
    for rate, count in zip(rates, counts, strict=True):
        if count:
            if rate is None:
                return None
            total += count * rate
    return total / _PER


def _starts_of(prices: object) -> tuple[float, ...] | None:
    """The times at which the prices of a model change for good; None where they change with the hour."""
    starts = []
    for price in prices if isinstance(prices, list) else ():
        if price.constraint is not None:
            day = getattr(price.constraint, "start_date", None)
            if day is None:
                return None
            starts.append(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    return tuple(sorted(starts))


def _package_mark() -> str | None:
    """Differs where another version of the public prices is installed; None where none is."""
    spec = importlib.util.find_spec("genai_prices")
    if spec is None or spec.origin is None:
        return None
    try:
        status = Path(spec.origin).with_name("data.py").stat()
    except OSError:
        return None
    return f"{spec.origin} {status.st_size} {status.st_mtime_ns}"


def _public_rates(by_class: Mapping[str, Any], start: int) -> Rates:
    """The rates for inputs that are longer than `start`."""
    rates: dict[str, float | None] = {}
    for name, price in by_class.items():
        tiers = [tier for tier in getattr(price, "tiers", ()) if tier.start <= start]
        value = max(tiers, key=lambda tier: tier.start).price if tiers else getattr(price, "base", price)
        rates[name] = None if value is None else float(value)
    # What a provider does not price apart costs what the class around it costs, as genai-prices has it.
    for name, around in _AROUND.items():
        if rates[name] is None:
            rates[name] = rates[around]
    return Rates(**rates)


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
