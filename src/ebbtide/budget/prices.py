"""What tokens cost.

The user's own table comes first, then the package `genai-prices` where it is installed. A price that nobody
knows is None, and counted: it is never taken for zero.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping
from copy import deepcopy
from os import PathLike
from typing import Any

from ebbtide.errors import ConfigError, expect, shown
from ebbtide.events.usage import Usage
from ebbtide.settings_file import read_settings
from ebbtide.text.name_table import NameTable

_CLASSES = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
}
_MOST_UNKNOWN = 256  # models that are counted by name
_PER = 1_000_000
_CACHED = 4096  # costs of equal counts; a look-up in the public table takes a fifth of a millisecond


class Prices:
    """Prices by model.

    Args:
        table: For each model, or pattern of models, USD per million tokens by class: ``input``, ``output``,
            ``cache_read``, ``cache_write``. A class that is left out has no known price.
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

    def __init__(
        self, table: Mapping[str, Mapping[str, float]] | None = None, *, public: bool = True
    ) -> None:
        expect("table", table, Mapping, optional=True)
        for model, classes in (table or {}).items():
            _check(model, classes)
        self._table = NameTable(table or {})
        self._public = public
        self._unknown: dict[str, int] = {}
        self._costs: dict[tuple[str, tuple[int, ...]], float | None] = {}
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

    def cost(self, usage: Usage) -> float | None:
        """Dollars for what was used, or None where nobody knows.

        What the provider states comes first. A class of tokens that is not stated counts as none of it.
        """
        expect("usage", usage, Usage)
        stated = usage.stated_cost
        if stated is not None:
            return stated
        model = usage.model or ""
        counts = {name: getattr(usage, tokens) or 0 for name, tokens in _CLASSES.items()}
        cost = None
        if usage.tokens is not None:
            classes = self._table.get(model)
            cost = self._cached_cost(model, counts) if classes is None else _sum(classes, counts)
        if cost is None:
            self._count_unknown(model)
        return cost

    def _cached_cost(self, model: str, counts: Mapping[str, int]) -> float | None:
        if not self._public or not model:
            return None
        key = (model, tuple(counts.values()))
        if key in self._costs:
            return self._costs[key]
        cost = self._public_cost(model, counts)
        with self._lock:
            if len(self._costs) >= _CACHED:
                self._costs.clear()
            self._costs[key] = cost
        return cost

    def _public_cost(self, model: str, counts: Mapping[str, int]) -> float | None:
        try:
            genai_prices = importlib.import_module("genai_prices")
        except ImportError:
            self._public = False
            return None
        usage = genai_prices.Usage(
            # There, cached tokens are input tokens too.
            input_tokens=counts["input"] + counts["cache_read"] + counts["cache_write"],
            output_tokens=counts["output"],
            cache_read_tokens=counts["cache_read"],
            cache_write_tokens=counts["cache_write"],
        )
        try:
            return float(genai_prices.calc_price(usage, model_ref=model).total_price)
        except (LookupError, ValueError):
            return None

    def _count_unknown(self, model: str) -> None:
        with self._lock:
            if model in self._unknown or len(self._unknown) < _MOST_UNKNOWN:
                self._unknown[model] = self._unknown.get(model, 0) + 1


def _sum(classes: Mapping[str, float], counts: Mapping[str, int]) -> float | None:
    if any(count and name not in classes for name, count in counts.items()):
        return None
    return sum(count * classes[name] for name, count in counts.items() if count) / _PER


def _check(model: str, classes: Any) -> None:
    if not isinstance(classes, Mapping):
        raise ConfigError(f"prices of {shown(model)}: expected a table with {', '.join(_CLASSES)}")
    for name, price in classes.items():
        if name not in _CLASSES:
            raise ConfigError(
                f"prices of {shown(model)}: no class {shown(name)}; there are {', '.join(_CLASSES)}"
            )
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price <= 1e9:
            raise ConfigError(
                f"{name} price of {shown(model)} = {shown(price)}: expected USD per million tokens"
            )
