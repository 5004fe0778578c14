"""Prices by class are those that genai-prices charges with, for every model that it knows."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from ebbtide.budget.prices import Prices
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


def test_kept_rates_give_the_same_costs_without_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ("claude-opus-4-6", "claude-sonnet-4-5", "gpt-5.4", "no-such-model")
    usages = [Usage(model=model, input_tokens=300_000, output_tokens=7) for model in models]
    times = (1.74e9, 1.76e9, 1.79e9, 1.795e9)
    first, second = Prices(), Prices()
    costs = [first.cost(usage, ts) for usage in usages for ts in times]
    assert costs == [Prices().cost(usage, ts) for usage in usages for ts in times]
    first.keep(tmp_path / "rates.json")
    second.recall(tmp_path / "rates.json")
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert [second.cost(usage, ts) for usage in usages for ts in times] == costs


def test_rates_that_were_kept_by_another_version_or_are_broken_are_not_taken(tmp_path: Path) -> None:
    file = tmp_path / "rates.json"
    for content in ("", "[]", '{"of": "another", "starts": {}, "tiers": []}', '{"of": null}'):
        file.write_text(content)
        prices = Prices()
        prices.recall(file)
        assert prices._tiers == {}
