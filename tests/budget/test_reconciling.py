"""Stated totals are held against the calls, tokens and dollars together, and never added to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import Tally, usd
from ebbtide.checking import check_events
from ebbtide.events.event import ModelCall, Notice, NoticeKind
from ebbtide.events.usage import Usage
from ebbtide.supervision.run_options import RunOptions

PRICES = Prices(
    {"large": {"input": 2.0, "output": 10.0, "cache_write": 2.5, "cache_write_1h": 4.0}}, public=False
)
MILLION = 1_000_000


def total(*stated: Usage) -> Notice:
    """A total as a record states it."""
    return Notice(kind=NoticeKind.TOTAL, stated=stated, source="result")


def call(**amounts: int) -> ModelCall:
    """A call of a model with a price."""
    return ModelCall(text="done", usage=Usage(model="large", **amounts))


_STATED = {
    "equal": (Usage(model="large", input_tokens=MILLION, cost_usd=2.0), 2.0, True, None),
    "output that lines lack": (
        Usage(model="large", input_tokens=MILLION, output_tokens=MILLION, cost_usd=12.0),
        12.0,
        True,
        None,
    ),
    "another price": (
        Usage(model="large", input_tokens=MILLION, cost_usd=3.0),
        3.0,
        False,
        "large at 1.50 times its list price",
    ),
    "a discount": (
        Usage(model="large", input_tokens=MILLION, cost_usd=1.0),
        1.0,
        False,
        "large at 0.50 times its list price",
    ),
    "calls before the file begins": (
        Usage(model="large", input_tokens=3 * MILLION, cost_usd=9.0),
        9.0,
        False,
        "calls of large that are not in the file (2,000,000 tokens of prompts)",
    ),
    "a model that no call shows": (
        Usage(model="other", input_tokens=7, cost_usd=0.5),
        2.5,
        None,
        "no known price for other (7 tokens)",
    ),
    "dollars alone": (Usage(cost_usd=2.0), 2.0, True, None),
}


@pytest.mark.parametrize(("stated", "cost", "equal", "cause"), _STATED.values(), ids=_STATED)
def test_a_stated_total_is_the_bill(
    stated: Usage, cost: float, equal: bool | None, cause: str | None
) -> None:
    """What is stated counts, and a difference to the list price has a cause."""
    events = [call(input_tokens=MILLION), total(stated)]
    summary = check_events(events, RunOptions(prices=PRICES))
    bill = summary.bill
    assert summary.spent.cost_usd == pytest.approx(cost)
    assert bill.stated is not None
    assert (bill.stated.equal, bill.stated.cause) == (equal, cause)
    assert sum(line.amount.cost_usd or 0 for line in bill.models) == pytest.approx(cost)
    assert sum(line.amount.cost_usd or 0 for line in bill.days) == pytest.approx(cost)
    assert sum(line.amount.cost_usd or 0 for line in bill.contents) == pytest.approx(cost)


def test_a_total_counts_as_often_as_it_is_stated_once() -> None:
    """It is the sum so far: the same one again adds nothing."""
    tally = Tally(PRICES)
    tally.add(call(input_tokens=MILLION))
    for _ in range(3):
        tally.add(total(Usage(model="large", input_tokens=2 * MILLION, cost_usd=5.0)))
    assert (usd(tally.cost), tally.tokens) == (5.0, 2 * MILLION)


def test_a_stated_cost_is_known_where_no_price_is() -> None:
    """Calls without a price are a part of the total, and no longer of unknown cost."""
    tally = Tally()
    tally.add(call(input_tokens=5))
    assert (tally.cost, tally.unpriced_calls) == (None, 1)
    tally.add(total(Usage(model="large", input_tokens=5, cost_usd=0.25)))
    assert (usd(tally.cost), tally.unpriced_calls, tally.tokens) == (0.25, 0, 5)


def test_no_tokens_cost_nothing() -> None:
    """A call of 0 tokens costs 0 dollars, which is known, with and without a price list."""
    for prices in (None, PRICES):
        tally = Tally(prices)
        tally.add(ModelCall(usage=Usage(model="no price", input_tokens=0, output_tokens=0)))
        assert (tally.cost, tally.unpriced_calls) == (0, 0)


_COUNTS = st.integers(0, 10**6)


@given(st.lists(st.tuples(_COUNTS, _COUNTS), max_size=5), _COUNTS, st.floats(0, 1e4), st.integers(1, 3))
def test_the_bill_is_what_is_stated(
    calls: list[tuple[int, int]], more: int, cost: float, chains: int
) -> None:
    """Whatever the calls came to: dollars are those of the total, tokens the larger of both."""
    events: list[ModelCall | Notice] = []
    for number, (fresh, output) in enumerate(calls):
        event = call(input_tokens=fresh, output_tokens=output)
        event.chain_id = f"chain {number % chains}"
        events.append(event)
    fresh, output = sum(one for one, _ in calls), sum(other for _, other in calls)
    events.append(total(Usage(model="large", input_tokens=fresh, output_tokens=output + more, cost_usd=cost)))
    summary = check_events(events, RunOptions(prices=PRICES))
    assert summary.spent.cost_usd == pytest.approx(cost, abs=1e-9)
    assert (summary.spent.tokens.total or 0) == fresh + output + more
    classes = sum(line.amount.tokens for line in summary.bill.classes)
    assert classes == fresh + output + more
