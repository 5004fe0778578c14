"""Spending of one chain, over windows, towards a budget, and without news."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.budget.tally import Tally
from ebbtide.divergence.chain_memory import ChainMemory, SessionMemory
from ebbtide.divergence.detectors.spend import Spend, Window
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.monitor import LoopMonitor, find_loops
from ebbtide.divergence.signals import Measurement, Unit
from ebbtide.events.event import Event, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules
from ebbtide.profile.loop_kinds import LoopKind


def profile(**rules: object) -> Profile:
    return Profile(name="spend", divergence=LoopRules(**rules))  # type: ignore[arg-type]


def news(number: int, *, ts: float | None = None, **spent: float) -> Event:
    usage = Usage(**spent)  # type: ignore[arg-type]
    return ToolCall(name="read", args={"path": str(number)}, result=f"text {number}", ts=ts, usage=usage)


def test_spending_over_an_hour_climbs_with_its_multiples() -> None:
    """It is reported above the limit, and again above twice and three times as much."""
    run = [news(n, ts=60.0 * n, cost_usd=0.9) for n in range(120)]
    signals = find_loops(run, profile(usd_per_hour=15.0))
    assert [(signal.kind, signal.report) for signal in signals] == [
        (LoopKind.SPEND_RATE, 1),
        (LoopKind.SPEND_RATE, 2),
        (LoopKind.SPEND_RATE, 3),
    ]
    assert signals[0].last_event == 17
    assert signals[0].measure == Measurement(Unit.USD, 15.3, 15.0, 3600.0)


def test_a_window_forgets() -> None:
    """The same sum, spread over more than the hour, stays under the limit."""
    assert (
        find_loops([news(n, ts=240.0 * n, cost_usd=0.9) for n in range(120)], profile(usd_per_hour=15.0))
        == []
    )


@given(
    st.sampled_from([60.0, 600.0, 3600.0]),
    st.floats(-1e9, 2e9),
    st.lists(
        st.sampled_from([0.0, 0.1, 5.999999, 6.0, 60.0, 3599.9, -30.0]) | st.floats(0, 900), max_size=40
    ),
)
def test_a_window_holds_what_fell_into_its_parts(span_s: float, start: float, steps: list[float]) -> None:
    """At every time it is the sum of the latest ten parts, each as long as a tenth of the window."""
    window, fell, part = Window(span_s), [], -math.inf
    for number, step in enumerate(steps, start=1):
        start += step
        part = max(part, math.floor(start * 10 / span_s))
        fell.append((part, number))
        window.add(start, 5 * number, number)
        within = [number for at, number in fell if at > part - 10]
        assert window.tokens == sum(within)
        assert window.cost == 5 * sum(within)


def test_a_burst_within_a_minute_is_told_where_that_is_asked_for() -> None:
    """There is no limit a minute by default, and one can be set."""
    run = [news(n, ts=float(n), cost_usd=0.3) for n in range(20)]
    assert find_loops(run) == []
    assert find_loops(run, profile(usd_per_minute=2.0))[0].last_event == 7


@pytest.mark.parametrize(
    ("rules", "spent"),
    [
        ({"budget_usd": 10.0}, {"cost_usd": 0.1}),
        ({"budget_tokens": 1000}, {"input_tokens": 3, "cache_read_tokens": 7}),
    ],
)
def test_the_end_of_a_budget_is_told_in_time(rules: dict[str, float], spent: dict[str, float]) -> None:
    """Ten minutes before the money or the tokens end, at the rate of the last ten, it is said."""
    run = [news(n, ts=30.0 * n, **spent) for n in range(100)]
    first = find_loops(run, profile(**rules))[0]
    assert first.kind is LoopKind.BUDGET_END
    assert 70 <= first.last_event <= 82
    assert first.measure is not None
    assert 0 < (first.measure.span_s or 0) < 600


def test_money_that_brings_nothing_new_is_told() -> None:
    """Dollars, or tokens of all classes, since the last new result; something new begins again."""
    think = ModelCall(text="hm", usage=Usage(cost_usd=0.3))
    quiet = profile(messages=None)
    signals = find_loops([news(0), *[think] * 4, news(1), *[think] * 4], quiet)
    assert [(signal.kind, signal.report, signal.relapses) for signal in signals] == [
        (LoopKind.SPEND_WITHOUT_NEWS, 1, 0),
        (LoopKind.SPEND_WITHOUT_NEWS, 2, 1),
    ]
    fresh = ModelCall(text="hm", usage=Usage(input_tokens=60_000))
    measure = find_loops([fresh] * 4, quiet)[0].measure
    assert measure == Measurement(Unit.TOKENS, 240_000, 200_000)


def test_a_token_from_a_cache_is_a_tenth_of_a_token() -> None:
    """Fresh tokens count in full, those from a cache as what they usually cost."""
    quiet = profile(messages=None)
    call = ModelCall(text="hm", usage=Usage(input_tokens=10_000, cache_read_tokens=400_000))
    signals = find_loops([news(0), *[call] * 6], quiet)
    assert [signal.last_event for signal in signals] == [6]
    assert signals[0].measure == Measurement(Unit.TOKENS, 250_000, 200_000)


def test_what_has_a_price_counts_in_money_alone() -> None:
    """A million tokens for 20 cents are 20 cents; tokens of a model without a price count beside them."""
    quiet = profile(messages=None)
    cheap = ModelCall(text="hm", usage=Usage(input_tokens=1_000_000, cost_usd=0.02))
    unpriced = ModelCall(text="ho", usage=Usage(input_tokens=150_000, cost_usd=0.0))
    assert find_loops([news(0), *[cheap] * 10], quiet) == []
    signals = find_loops([news(0), cheap, unpriced, cheap, unpriced], quiet)
    assert [(signal.last_event, signal.measure) for signal in signals] == [
        (5, Measurement(Unit.TOKENS, 300_000, 200_000))
    ]


def test_a_total_at_the_end_was_not_spent_there() -> None:
    """It counts in what the run took, and neither after the last news nor in the last hour."""
    total = Notice(kind=NoticeKind.TOTAL, ts=2.0, usage=Usage(cost_usd=99.0, input_tokens=9_000_000))
    run = [news(0, ts=1.0, cost_usd=0.1), total]
    assert find_loops(run, profile(usd_per_minute=1.0, usd_per_hour=1.0, budget_usd=100.0)) == []
    monitor = LoopMonitor()
    for event in run:
        monitor.update(event)
    chain = monitor.snapshot().chains[0]
    assert (chain.cost_usd, chain.usd_last_hour) == (99.1, 0.1)
    at_once = Notice(kind=NoticeKind.USAGE, ts=2.0, usage=Usage(cost_usd=99.0))
    assert [signal.kind for signal in find_loops([run[0], at_once])] == [LoopKind.SPEND_RATE]


def test_unknown_stays_unknown() -> None:
    """Without a cost there is no sum, and a signal says so; a cost of zero is a sum."""
    free = ToolCall(name="ls", args={}, result="a", usage=Usage(cost_usd=0.0, output_tokens=0))
    unknown = ToolCall(name="ls", args={}, result="a")
    assert [(s.cost_usd, s.tokens) for s in find_loops([free] * 3)] == [(0.0, 0)]
    assert [(s.cost_usd, s.tokens) for s in find_loops([unknown] * 3)] == [(None, None)]
    monitor = LoopMonitor()
    monitor.update(unknown)
    assert monitor.snapshot().chains[0].cost_usd is None


def test_an_event_without_spending_says_nothing_about_it() -> None:
    """What was out of bounds is not reported again by it, and the time of spending does not begin with it."""
    tally = Tally()
    spend = Spend(ChainMemory("main", LoopRules(usd_without_news=1.0), SessionMemory(), tally))
    unpaid = ToolCall(name="ls", usage=Usage())
    tally.add(unpaid)
    assert spend.see(Moment(unpaid, 1, 0.0)) is None
    assert spend.first_ts is None
    paid = ModelCall(usage=Usage(cost_usd=2.0))
    tally.add(paid)
    excess = spend.see(Moment(paid, 2, 60.0))
    assert excess is not None
    assert excess.kind is LoopKind.SPEND_WITHOUT_NEWS
    tally.add(unpaid)
    assert spend.see(Moment(unpaid, 3, 120.0)) is None
    assert (spend.first_ts, spend.exceeded) == (60.0, LoopKind.SPEND_WITHOUT_NEWS)
