"""Public prices of models, from a table that this package ships.

The table is data of `genai-prices`; its licence stands beside it. Where a newer one is installed, that one
counts.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_FILE = Path(__file__).with_name("public_prices.json")
_PACKAGE = "genai-prices"
_CLASSES = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
# What a provider does not price apart costs what the class around it costs.
_AROUND = {"cache_read": "input", "cache_write": "input", "cache_write_1h": "cache_write"}
_EDITION = re.compile(r"(-)(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)")
_SELLER = re.compile(r"([a-z][a-z_-]{1,29})[/:](?=.)")
# Bedrock names a model by its region, its vendor, its name and its version.
_BEDROCK = re.compile(
    r"^(?:(?:us|us-gov|eu|apac|jp|au|ca|sa|global)\.)?(?=(?:ai21|amazon|anthropic|cohere|deepseek|meta|minimax|mistral"
    r"|moonshot|moonshotai|nvidia|openai|qwen|writer|zai)\.)"
)
_LONGEST_NAME = 500

_Rate = float | list[Any]
_Terms = dict[str, _Rate]


class PriceTable(NamedTuple):
    """Public prices as data.

    Attributes:
        edition: The version of genai-prices that they are those of.
        sellers: Who sells models, in the order in which they are asked about a bare name.
    """

    edition: str
    sellers: list[dict[str, Any]]

    def price(self, model: str) -> PublicPrice | None:
        """Returns what a model costs; None where no seller is known to have it.

        Args:
            model: A name, alone or after its seller's (``gpt-5``, ``openai/gpt-5``, ``openai:gpt-5``), or one
                of Bedrock with its region. A name after a seller that is not in the table, such as
                ``ollama/``, has no price.
        """
        name = model.lower()
        if len(name) > _LONGEST_NAME:
            return None
        if _BEDROCK.match(name) is not None:
            return self._of(self._seller("aws"), [name, _BEDROCK.sub("", name)])
        name = name.removeprefix("models/")
        seller = next((one for one in self.sellers if "match" in one and _matches(one["match"], name)), None)
        found = self._of(seller, [name])
        if found is None and (prefix := _SELLER.match(name)) is not None:
            rest = name[prefix.end() :]
            found = self._of(self._seller(prefix[1]), [rest, _BEDROCK.sub("", rest)])
        return found

    def _seller(self, name: str) -> Mapping[str, Any] | None:
        short = name.removesuffix("_ai").removesuffix("-ai")
        for one in self.sellers:
            if one["id"] in (name, short):
                return one
        return next((one for one in self.sellers if "named" in one and _matches(one["named"], name)), None)

    def _of(self, seller: Mapping[str, Any] | None, names: Iterable[str]) -> PublicPrice | None:
        if seller is None:
            return None
        others = (one for other in seller.get("resells", ()) for one in self.sellers if one["id"] == other)
        shelves = [seller["models"], *(one["models"] for one in others)]
        for name in dict.fromkeys(form for given in names for form in _forms(given)):
            for models in shelves:
                for model in models:
                    if _matches(model["match"], name):
                        return PublicPrice(model["prices"], model.get("tiers", []))
        return None


class PublicPrice:
    """Price of one model, at a time and in a tier of the service."""

    __slots__ = ("_prices", "_tiers", "starts")

    def __init__(self, prices: list[dict[str, Any]], tiers: list[dict[str, Any]]) -> None:
        self._prices = prices
        self._tiers = tiers
        #: Seconds since 1970 at which the price changes for good; None where it changes with the hour.
        self.starts = _starts([*prices, *tiers])

    def rates(
        self, when: datetime, tier: str | None
    ) -> tuple[tuple[int, tuple[float | None, ...]], ...] | None:
        """Returns rates from a length of the input on, the longest first; None for a tier without a price.

        Args:
            when: The time of the call, in UTC.
            tier: Of the service; None for the standard one.
        """
        # The last that holds counts. Where none holds, the first does, as genai-prices has it.
        terms: _Terms = next(
            (one["rates"] for one in reversed(self._prices) if _holds(one, when)), self._prices[0]["rates"]
        )
        if tier is not None:
            others = [one["rates"] for one in self._tiers if one["tier"] == tier and _holds(one, when)]
            if not others:
                return None
            for other in reversed(others):
                terms = terms | other
        starts = {start for rate in terms.values() if isinstance(rate, list) for start, _ in rate[1:]}
        return tuple((start, _rates(terms, start)) for start in (*sorted(starts, reverse=True), -1))


@cache
def public_prices() -> PriceTable:
    """Returns the newest table there is: the shipped one, or that of the package."""
    kept = json.loads(_FILE.read_bytes())
    shipped = PriceTable(kept["edition"], kept["sellers"])
    edition = installed_edition()
    if edition is not None and _order(edition) > _order(shipped.edition):
        with suppress(Exception):  # a later package may have another shape: the shipped table stays true
            return table_of_package()
    return shipped


def installed_edition() -> str | None:
    """Returns the version of the installed genai-prices; None where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # a third of what a watch takes to start

    try:
        return version(_PACKAGE)
    except PackageNotFoundError:
        return None


def table_of_package() -> PriceTable:
    """Returns the table of the installed genai-prices, which takes most of a second to import.

    Raises:
        ImportError: It is not installed.
    """
    from genai_prices.data_snapshot import get_snapshot

    sellers = []
    for provider in get_snapshot().providers:
        models = [
            {
                "match": _clause(model.match),
                "prices": [_dated(one) for one in _listed(model.prices)],
                "tiers": [
                    {"tier": next(iter(one.when.values())), **_dated(one)}
                    for one in model.price_variants or ()
                    if len(one.when) == 1 and one.when.keys() <= {"processing", "service_tier", "speed"}
                ],
            }
            for model in provider.models
        ]
        models = [
            {name: value for name, value in model.items() if value} for model in models if model["prices"]
        ]
        seller: dict[str, Any] = {"id": provider.id}
        if provider.model_match is not None:
            seller["match"] = _clause(provider.model_match)
        if provider.provider_match is not None:
            seller["named"] = _clause(provider.provider_match)
        if provider.fallback_model_providers:
            seller["resells"] = list(provider.fallback_model_providers)
        sellers.append({**seller, "models": models})
    return PriceTable(installed_edition() or "", sellers)


def _write() -> None:
    """Writes the table that is shipped anew, from the installed genai-prices."""
    table = table_of_package()
    text = json.dumps(table._asdict(), separators=(",", ":"), ensure_ascii=True)
    # A line a model, so that a diff shows which prices changed.
    _FILE.write_text(
        text.replace('{"match"', '\n{"match"').replace('{"id"', '\n{"id"') + "\n", encoding="ascii"
    )


def _forms(name: str) -> Iterator[str]:
    yield name
    yield _EDITION.sub(_dashed, name)  # a date as LiteLLM writes it


def _dashed(found: re.Match[str]) -> str:
    try:
        date(*map(int, found.group(2, 3, 4)))
    except ValueError:
        return found[0]
    return "-".join(("", *found.group(2, 3, 4)))


def _matches(clause: Mapping[str, Any], name: str) -> bool:
    ((kind, value),) = clause.items()
    match kind:
        case "equals":
            return bool(name == value)
        case "starts_with":
            return name.startswith(value)
        case "ends_with":
            return name.endswith(value)
        case "contains":
            return bool(value in name)
        case "regex":
            return re.search(value, name) is not None
        case "or":
            return any(_matches(one, name) for one in value)
        case _:
            return all(_matches(one, name) for one in value)


def _holds(one: Mapping[str, Any], when: datetime) -> bool:
    if "from" in one:
        return bool(when.date().isoformat() >= one["from"])
    if "hours" in one:
        start, end = one["hours"]
        hour = when.time().isoformat()
        return bool(start <= hour < end if start <= end else not end <= hour < start)
    return True


def _starts(prices: Iterable[Mapping[str, Any]]) -> tuple[float, ...] | None:
    days = set()
    for one in prices:
        if "hours" in one:
            return None
        if "from" in one:
            days.add(datetime.fromisoformat(one["from"]).replace(tzinfo=UTC).timestamp())
    return tuple(sorted(days))


def _rates(terms: _Terms, start: int) -> tuple[float | None, ...]:
    rates: dict[str, float | None] = {}
    for name in _CLASSES:
        rate = terms.get(name)
        if isinstance(rate, list):
            base, *steps = rate
            at = bisect_right([step for step, _ in steps], start)
            rate = steps[at - 1][1] if at else base
        rates[name] = rate
    for name, around in _AROUND.items():
        if rates[name] is None:
            rates[name] = rates[around]
    return tuple(rates.values())


def _order(edition: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", edition)[:3]]


def _listed(prices: Any) -> list[Any]:
    return prices if isinstance(prices, list) else [prices]


def _dated(one: Any) -> dict[str, Any]:
    """The prices of a package's record, and when they hold."""
    prices = getattr(one, "prices", one)
    kept: dict[str, Any] = {}
    constraint = getattr(one, "constraint", None)
    if constraint is not None and hasattr(constraint, "start_date"):
        kept["from"] = constraint.start_date.isoformat()
    elif constraint is not None:
        kept["hours"] = [_utc(constraint.start_time), _utc(constraint.end_time)]
    kept["rates"] = {
        name: _rate(rate) for name in _CLASSES if (rate := getattr(prices, f"{name}_mtok", None)) is not None
    }
    return kept


def _utc(time: Any) -> str:
    whole = datetime.combine(date(1970, 1, 1), time)
    return (whole if whole.tzinfo is None else whole.astimezone(UTC)).time().isoformat()


def _rate(rate: Any) -> _Rate:
    if hasattr(rate, "base"):
        return [float(rate.base), *([tier.start, float(tier.price)] for tier in rate.tiers)]
    return float(rate)


def _clause(clause: Any) -> dict[str, Any]:
    ((name, value),) = vars(clause).items()
    if isinstance(value, list):
        return {name.removesuffix("_"): [_clause(one) for one in value]}
    return {name: value if name == "regex" else value.lower()}


if __name__ == "__main__":
    _write()
