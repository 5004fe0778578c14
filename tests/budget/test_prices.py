"""What tokens cost."""

import importlib.metadata
import math
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from ebbtide.budget.prices import Prices
from ebbtide.errors import ConfigError
from ebbtide.events.usage import Usage

TABLE = {
    "small-*": {"input": 0.25, "output": 2.0, "cache_read": 0.025, "cache_write": 0.5},
    "small-2": {"input": 1.0, "output": 4.0},
    "free": {"input": 0, "output": 0},
    "kept": {"input": 3.0, "output": 15.0, "cache_write": 3.75, "cache_write_1h": 6.0},
}
MILLION = 1_000_000


def test_where_prices_come_from() -> None:
    """A report says it: the own table, the package with its version, or neither."""
    assert Prices(TABLE, public=False).origin == "own prices"
    assert Prices(public=False).origin == ""
    public = f"public prices of genai-prices {importlib.metadata.version('genai-prices')}"
    assert Prices().origin == public
    assert Prices(TABLE).origin == f"own prices, then {public}"


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(model="small-1", input_tokens=MILLION), 0.25),
        (Usage(model="small-1", input_tokens=4, output_tokens=3, cache_read_tokens=400), 1.7e-05),
        (Usage(model="small-1", cache_write_tokens=2 * MILLION), 1.0),
        (Usage(model="small-2", input_tokens=MILLION, output_tokens=MILLION), 5.0),
        (Usage(model="free", input_tokens=MILLION), 0.0),
        (Usage(model="small-2", input_tokens=1, cache_read_tokens=1), None),
        (Usage(model="small-2", input_tokens=1, cache_read_tokens=0), 1e-06),
        (Usage(model="kept", cache_write_tokens=MILLION, cache_write_1h_tokens=MILLION // 5), 4.2),
        (Usage(model="kept", cache_write_tokens=MILLION, cache_write_1h_tokens=0), 3.75),
        (Usage(model="kept", cache_write_tokens=MILLION), 3.75),
        (Usage(model="kept", cache_write_tokens=MILLION, cache_write_1h_tokens=MILLION + 1), 3.75),
        (Usage(model="small-1", cache_write_tokens=MILLION, cache_write_1h_tokens=1), None),
        (Usage(model="kept", output_tokens=MILLION, reasoning_tokens=MILLION), 15.0),
        (Usage(model="large", input_tokens=1), None),
        (Usage(input_tokens=1), None),
        (Usage(model="small-1"), None),
        (Usage(model="large", cost_usd=0.125), 0.125),
        (Usage(cost_usd=0.0), 0.0),
    ],
)
def test_cost(usage: Usage, cost: float | None) -> None:
    """The provider's word first, then an exact name, then a pattern; a price that is missing is not zero."""
    prices = Prices(TABLE, public=False)
    assert prices.cost(usage) == (None if cost is None else pytest.approx(cost, rel=1e-12))
    assert sum(prices.unknown.values()) == (cost is None)


def test_unknown_prices_are_counted() -> None:
    """Each model whose cost nobody knows is counted, in bounded memory."""
    prices = Prices(public=False)
    for number in range(1000):
        for model in ("large", f"model {number}"):
            assert prices.cost(Usage(model=model, input_tokens=1)) is None
    assert prices.unknown["large"] == 1000
    assert len(prices.unknown) == 256
    prices.unknown.clear()
    assert prices.unknown


@pytest.mark.parametrize(
    "table",
    [
        {"m": {"inptu": 1.0}},
        {"m": 1.0},
        {"m": {"input": -1.0}},
        {"m": {"input": math.nan}},
        {"m": {"input": math.inf}},
        {"m": {"input": "1"}},
        {"m": {"input": True}},
    ],
)
def test_tables_that_are_none(table: dict[str, Any]) -> None:
    """A class that does not exist, or a price that cannot be, is refused with the model's name."""
    with pytest.raises(ConfigError, match="'m'"):
        Prices(table)


def test_load(tmp_path: Path) -> None:
    """The table [prices] of a TOML file; what is wrong with it is told with the file's name."""
    file = tmp_path / "run.toml"
    file.write_text('[prices."small-*"]\ninput = 0.25\noutput = 2\n', encoding="utf-8")
    usage = Usage(model="small-9", input_tokens=MILLION, output_tokens=MILLION)
    assert Prices.load(file, public=False).cost(usage) == 2.25
    for text in ("prices = 3", "[prices.m]\nx = 1", "[prices", "\xff"):
        file.write_bytes(text.encode("latin-1"))
        with pytest.raises(ConfigError, match=r"run\.toml"):
            Prices.load(file)
    with pytest.raises(ConfigError, match=r"missing\.toml"):
        Prices.load(tmp_path / "missing.toml")


def test_public_prices() -> None:
    """Models that the table does not have are looked up in the public table, cached tokens included."""
    prices = Prices({"gpt-4o": {"input": 1.0, "output": 1.0}})
    assert prices.cost(Usage(model="gpt-4o", input_tokens=MILLION)) == 1.0
    some = prices.cost(Usage(model="gpt-4o-mini", input_tokens=MILLION, output_tokens=MILLION))
    cached = prices.cost(Usage(model="gpt-4o-mini", cache_read_tokens=MILLION, output_tokens=MILLION))
    assert some is not None
    assert cached is not None
    assert 0 < cached < some < 10
    assert prices.cost(Usage(model="no such model", input_tokens=1)) is None
    assert prices.unknown == {"no such model": 1}


def test_public_prices_need_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is shipped."""
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    prices = Prices({"mine": {"input": 1.0}})
    assert prices.cost(Usage(model="gpt-4o", input_tokens=MILLION)) == 2.5
    assert prices.cost(Usage(model="mine", input_tokens=MILLION)) == 1.0


def test_prices_reach_another_process() -> None:
    """A table, and what was asked of it in vain, survive being sent."""
    prices = Prices({"small-*": {"input": 0.25}}, public=False)
    prices.cost(Usage(model="large", input_tokens=1))
    copy = pickle.loads(pickle.dumps(prices))  # noqa: S301 - of our own making
    assert copy.cost(Usage(model="small-2", input_tokens=2_000_000)) == 0.5
    assert copy.unknown == {"large": 1}


OCTOBER, NOVEMBER = 1.791e9, 1.7955e9  # days before and after providers' prices of tiers were first recorded


@pytest.mark.parametrize(
    ("model", "tier", "ts", "expected"),
    [
        ("gpt-5.4", "priority", OCTOBER, 2 * 2.5),
        ("gpt-5.4", "priority", NOVEMBER, 2 * 2.5),
        ("gpt-5.4", "flex", OCTOBER, None),
        ("gpt-5.4", "flex", NOVEMBER, 2.5 / 2),
        ("claude-opus-4-6", "fast", OCTOBER, 6 * 5.0),
        ("claude-opus-4-6", "batch", OCTOBER, None),
        ("claude-opus-4-6", "batch", NOVEMBER, 5.0 / 2),
        ("claude-opus-4-6", None, OCTOBER, 5.0),
        ("claude-opus-4-6", "priority", NOVEMBER, None),
        ("gpt-5.4", "some new tier", NOVEMBER, None),
    ],
)
def test_a_tier_of_the_service_has_its_own_price(
    model: str, tier: str | None, ts: float, expected: float | None
) -> None:
    """Its published price, or the list price times its factor; a tier that nobody knows has no price."""
    usage = Usage(model=model, input_tokens=1_000_000, tier=tier)
    small = Usage(model=model, input_tokens=100_000, tier=tier)  # below the length that costs more
    cost = Prices().cost(small, ts)
    assert cost == (None if expected is None else pytest.approx(expected / 10))
    assert (Prices().cost(usage, ts) is None) == (expected is None)


def test_own_prices_may_state_tiers() -> None:
    """They come before those that everybody pays, and a factor has to be a number."""
    prices = Prices({"small": {"input": 1.0, "tiers": {"priority": 3}}}, public=False)
    usage = Usage(model="small", input_tokens=1_000_000, tier="priority")
    assert prices.cost(usage) == 3.0
    assert prices.cost(Usage(model="small", input_tokens=1_000_000, tier="turbo")) is None
    for tiers in ({"priority": "twice"}, {"priority": -1}, 2):
        with pytest.raises(ConfigError, match="tier"):
            Prices({"small": {"input": 1.0, "tiers": tiers}})
