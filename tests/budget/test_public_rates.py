"""Prices by class are those that genai-prices charges with, for every model that it knows."""

from __future__ import annotations

import importlib.metadata
import random
import sys

import pytest

from ebbtide.budget.prices import Prices
from ebbtide.budget.public_prices import public_prices, table_of_package
from ebbtide.events.usage import Usage

genai_prices = pytest.importorskip("genai_prices")


def _models() -> list[str]:
    snapshot = pytest.importorskip("genai_prices.data_snapshot").get_snapshot()
    return sorted({model.id for provider in snapshot.providers for model in provider.models})


def test_every_known_model_costs_the_same() -> None:
    """Tiers, cached tokens and classes without a price of their own included."""
    prices, numbers, known = Prices(), random.Random(14), 0  # noqa: S311 - a sample, no secrets
    for model in _models()[::3]:
        fresh, output, read, write = (numbers.choice((0, 2_000, 300_000)) for _ in range(4))
        usage = genai_prices.Usage(
            input_tokens=fresh + read + write,
            output_tokens=output,
            cache_read_tokens=read,
            cache_write_tokens=write,
            cache_write_1h_tokens=write // 4,
        )
        try:
            expected = genai_prices.calc_price(usage, model_ref=model).total_price
        except LookupError:
            continue
        cost = prices.cost(
            Usage(
                model=model,
                input_tokens=fresh,
                output_tokens=output,
                cache_read_tokens=read,
                cache_write_tokens=write,
                cache_write_1h_tokens=write // 4,
            )
        )
        if cost is not None:  # a class that has no price is free there, and unknown here
            known += 1
            assert cost == pytest.approx(float(expected))
    assert known > 100


def test_anthropic_states_what_an_hour_costs() -> None:
    """Twice the input, for every model that Anthropic sells itself; see its page on prompt caching."""
    snapshot = pytest.importorskip("genai_prices.data_snapshot").get_snapshot()
    (models,) = (provider.models for provider in snapshot.providers if provider.id == "anthropic")
    rates = [rate for model in models if (rate := Prices().rates(model.id)) is not None]
    hours = [(rate.input, rate.cache_write_1h) for rate in rates if rate.cache_write != rate.input]
    assert len(hours) > 10
    for fresh, hour in hours:
        assert fresh is not None
        assert hour == pytest.approx(2 * fresh)


def test_prices_are_those_of_the_day() -> None:
    """A model whose price fell costs the old price in an old run."""
    dated = [
        (model.id, start)
        for provider in pytest.importorskip("genai_prices.data_snapshot").get_snapshot().providers
        for model in provider.models
        if isinstance(model.prices, list)
        for start in [getattr(item.constraint, "start_date", None) for item in model.prices]
        if start is not None
    ]
    prices, changed = Prices(), 0
    for model, start in dated:
        day = start.toordinal() - 719_163  # days since 1970
        before, after = (prices.rates(model, ts=(day + shift) * 86_400.0) for shift in (-2, 2))
        changed += before != after
    assert changed


def test_the_shipped_table_is_that_of_its_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was typed in by hand. A package of the same edition is not asked."""
    if importlib.metadata.version("genai-prices") != public_prices().edition:
        pytest.skip("another version of genai-prices is installed")
    assert table_of_package() == public_prices()
    public_prices.cache_clear()
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert public_prices().sellers


def test_a_newer_package_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its table counts, and says so; where it cannot be read, the shipped one does."""
    public_prices.cache_clear()
    monkeypatch.setattr("ebbtide.budget.public_prices.installed_edition", lambda: "999.0")
    try:
        assert Prices().origin == "public prices of genai-prices 999.0"
        public_prices.cache_clear()
        monkeypatch.setitem(sys.modules, "genai_prices", None)
        monkeypatch.setitem(sys.modules, "genai_prices.data_snapshot", None)
        assert "999" not in Prices().origin
    finally:
        public_prices.cache_clear()


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("openai/gpt-5.1", "gpt-5.1"),
        ("openai:gpt-5.1", "gpt-5.1"),
        ("OpenAI/GPT-5.1", "gpt-5.1"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("gemini/gemini-2.5-pro", "gemini-2.5-pro"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("xai/grok-4", "grok-4"),
        ("gpt-5-20250807", "gpt-5-2025-08-07"),
        (
            "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
    ],
)
def test_a_name_may_carry_its_seller(name: str, same: str) -> None:
    rates = Prices().rates(name)
    assert rates is not None
    assert rates == Prices().rates(same)


def test_a_region_of_bedrock_costs_more() -> None:
    """The price is the seller's, not that of who made the model."""
    here, there = (
        Prices().rates("claude-sonnet-4-5"),
        Prices().rates("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    )
    assert here is not None
    assert there is not None
    assert there.input == pytest.approx(1.1 * here.input)


@pytest.mark.parametrize(
    "name", ["ollama/gpt-5", "lm_studio/qwen3", "qwen/qwen3-coder", "/", ":", "a" * 10_000, "gpt-5" * 200]
)
def test_a_seller_that_nobody_knows_has_no_price(name: str) -> None:
    """A model on one's own machine is not priced as if somebody sold it."""
    assert Prices().rates(name) is None
