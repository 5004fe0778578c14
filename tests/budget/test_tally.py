"""What a run took: whole units of money, tokens by class, times; per chain and for the run."""

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ebbtide.budget.limit_alerts import LimitAlert, LimitAlerts, Nearness
from ebbtide.budget.limits import LimitKind, Limits
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import UNITS, Tally, units, usd
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import CLASSES, MOST_TOKENS, MOST_USD, Usage

PRICES = {"small": {"input": 0.3, "output": 2.5}, "free": {"input": 0}}
TABLE = Prices(PRICES, public=False)
EXACT = 2**51  # units below which a float of dollars names one whole unit

costs = (
    st.none()
    | st.decimals(0, 2000, places=7).map(float)
    | st.sampled_from([0.1, 0.01, 1e-12, 3e-13, 1 / 3, 0, 7, 123_456_789.123, MOST_USD])
    | st.sampled_from([math.nan, math.inf, -0.01, 1.01 * MOST_USD, True, "much"])
)
counts = (
    st.none()
    | st.integers(0, 90_000)
    | st.sampled_from([MOST_TOKENS, MOST_TOKENS + 1, -1, 3.0, math.nan, True, "many"])
)
usages = st.none() | st.builds(
    Usage,
    model=st.sampled_from([None, "", "small", "free", "large"]),
    cost_usd=costs,
    **dict.fromkeys(CLASSES, counts),
)
events = st.one_of(
    st.builds(ToolCall, name=st.just("ls"), usage=usages),
    st.builds(ModelCall, part=st.sampled_from(ModelPart), usage=usages),
    st.builds(Message, usage=usages),
    st.builds(Notice, kind=st.just(NoticeKind.USAGE), usage=usages),
)
runs = st.lists(st.tuples(st.integers(0, 2), events, st.none() | st.floats(-1e9, 1e9)), max_size=40)


class Plain:
    """The same sums, with fractions, one number after the other."""

    def __init__(self) -> None:
        self.events = self.tool_calls = self.model_calls = self.faults = self.unpriced_calls = 0
        self.cost: Fraction | None = None
        self.units = 0  # each cost rounded by itself
        self.slack = Fraction(0)
        self.by_class: list[int | None] = [None] * 4
        self.unpriced_models: dict[str, None] = {}
        self.times: list[float] = []

    def add(self, event: Event, ts: float | None) -> None:
        self.events += 1
        self.tool_calls += isinstance(event, ToolCall)
        self.model_calls += isinstance(event, ModelCall) and event.part.value in ("message", "embeddings")
        if ts is not None:
            self.times.append(ts)
        if event.usage is not None:
            self._spend(event.usage, by_model=isinstance(event, ModelCall))

    def _spend(self, usage: Usage, *, by_model: bool) -> None:
        tokens = {}
        faults = 0
        for place, name in enumerate(CLASSES):
            count = getattr(usage, name)
            if count is None:
                continue
            if type(count) is int and 0 <= count <= MOST_TOKENS:
                tokens[place] = count
            else:
                faults += 1
        cost = None
        zero = usage.cost_usd == 0 and any(getattr(usage, name) for name in CLASSES)
        if usage.cost_usd is not None and not zero:
            if type(usage.cost_usd) in (int, float) and 0 <= usage.cost_usd <= MOST_USD:
                cost = Fraction(repr(usage.cost_usd))
            else:
                faults += 1
        elif any(tokens.values()) and not faults and usage.model in PRICES:
            prices = [
                PRICES[usage.model].get(name) for name in ("input", "output", "cache_read", "cache_write")
            ]
            if all(prices[place] is not None for place, count in tokens.items() if count):
                cost = sum(
                    (Fraction(repr(prices[place])) * count for place, count in tokens.items() if count),
                    Fraction(0),
                )
                cost /= 1_000_000
        for place, count in tokens.items():
            self.by_class[place] = (self.by_class[place] or 0) + count
        self.faults += faults
        if cost is not None:
            if round(cost * UNITS) or self.cost is not None or not self.unpriced_calls:
                self.cost = cost + (self.cost or 0)
                self.units += round(cost * UNITS)
            whole = cost * UNITS
            if whole.denominator > 1 or whole > EXACT:
                self.slack += Fraction(1, 2) + whole / 2**50
        elif any(tokens.values()) and by_model:
            self.unpriced_calls += 1
            if not self.units:
                self.cost = None
            self.unpriced_models[usage.model or ""] = None

    @property
    def tokens(self) -> int | None:
        counts = [count for count in self.by_class if count is not None]
        return sum(counts) if counts else None


def check(tally: Tally, plain: Plain) -> None:
    """Every count is the same; money is, wherever a cost is a whole number of units."""
    for name in ("events", "tool_calls", "model_calls", "faults", "unpriced_calls", "tokens", "by_class"):
        assert getattr(tally, name) == getattr(plain, name), name
    assert list(tally.unpriced_models) == list(plain.unpriced_models)
    assert tally.first_ts == (plain.times[0] if plain.times else None)
    assert tally.latest_ts == max(plain.times, default=None)
    assert (tally.cost is None) == (plain.cost is None)
    if tally.cost is not None and plain.cost is not None:
        assert type(tally.cost) is int
        assert abs(tally.cost - plain.cost * UNITS) <= plain.slack


@given(runs, st.integers(0, 40))
@example([(0, ModelCall(usage=Usage(cost_usd=0.01)), None)] * 100, 50)
@example(
    [(0, ModelCall(usage=Usage(cost_usd=3e-13)), None)] * 2
    + [(0, ModelCall(usage=Usage(input_tokens=1)), None)],
    0,
)
def test_a_tally_is_the_sum_of_its_events(run: list[tuple[int, Event, float | None]], at: int) -> None:
    """Per chain and for the run, also where it is stored and read again in between."""
    whole, plain_whole = Tally(TABLE), Plain()
    chains, plains = [Tally(TABLE, whole) for _ in range(3)], [Plain() for _ in range(3)]
    again = Tally(TABLE)
    chains_again = [Tally(TABLE, again) for _ in range(3)]
    for place, (number, event, ts) in enumerate(run):
        if place == at:
            states = json.loads(json.dumps([tally.to_state() for tally in (again, *chains_again)]))
            again = Tally(TABLE)
            chains_again = [Tally(TABLE, again) for _ in range(3)]
            for tally, state in zip((again, *chains_again), states, strict=True):
                tally.restore(state)
        chains[number].add(event, ts)
        chains_again[number].add(event, ts)
        plains[number].add(event, ts)
        plain_whole.add(event, ts)
    check(whole, plain_whole)
    for tally, plain in zip(chains, plains, strict=True):
        check(tally, plain)
    stored_states = [tally.to_state() for tally in (again, *chains_again)]
    assert stored_states == [tally.to_state() for tally in (whole, *chains)]
    assert whole.cost == (sum(tally.cost or 0 for tally in chains) if plain_whole.cost is not None else None)


class Dollars(float):
    """What a library of numbers hands over where a number is expected."""


@pytest.mark.parametrize(
    ("cost", "counted", "faults"),
    [
        (Dollars(0.5), 0.5, 0),
        (2, 2.0, 0),
        (1e12, 1e12, 0),
        (Dollars(-0.5), None, 1),
        (2e12, None, 1),
        (math.nan, None, 1),
        (True, None, 1),
        ("0.5", None, 1),
    ],
)
def test_what_counts_as_money(cost: object, counted: float | None, faults: int) -> None:
    """A number of any kind, from zero to what one event can cost; the rest is counted as faulty."""
    tally = Tally()
    tally.add(ToolCall(name="ls", usage=Usage(cost_usd=cost)))  # type: ignore[arg-type]
    assert (usd(tally.cost), tally.faults) == (counted, faults)


def test_cents_add_up_to_dollars() -> None:
    """A hundred times one cent is a dollar, and so is ten times ten."""
    cents, dimes = Tally(), Tally()
    for _ in range(100):
        cents.add(ModelCall(usage=Usage(cost_usd=0.01)))
    for _ in range(10):
        dimes.add(ModelCall(usage=Usage(cost_usd=0.10)))
    assert cents.cost == dimes.cost == units(1.0)
    assert usd(cents.cost) == 1.0


def test_a_dollar_is_reached_in_cents_as_in_dimes() -> None:
    """Ten events of ten cents and a hundred of one end in the same alert, and not before."""
    ends = []
    for events_of_run, cost in ((10, 0.10), (100, 0.01)):
        tally = Tally()
        alerts = LimitAlerts(Limits(cost_usd=1.0), tally)
        for number in range(1, events_of_run + 1):
            event = ModelCall(usage=Usage(cost_usd=cost))
            tally.add(event)
            latest = alerts.see(event)
            reached = [alert.nearness for alert in latest] == [Nearness.REACHED]
            assert reached == (number == events_of_run)
        assert alerts.left(LimitKind.COST_USD) == 0
        ends.append(latest)
    assert ends[0] == ends[1] == [LimitAlert(LimitKind.COST_USD, Nearness.REACHED, 1.0, 1.0)]


def test_small_costs_count() -> None:
    """A millionth of a millionth of a dollar is one unit; what is less than half of it is none."""
    assert [units(cost) for cost in (1e-12, 4e-13, 2.5e-6)] == [1, 0, 2_500_000]


def test_models_without_a_price_are_named() -> None:
    """Calls of a model with tokens and no cost count, by model, and what they cost stays unknown."""
    tally = Tally(TABLE)
    tally.add(ModelCall(usage=Usage(model="small", input_tokens=1_000_000)))
    tally.add(ModelCall(usage=Usage(model="small", cache_read_tokens=5)))  # no price of this class
    tally.add(ModelCall(usage=Usage(model="large", input_tokens=5)))
    tally.add(ModelCall(usage=Usage(model="large", input_tokens=5)))
    tally.add(ModelCall(usage=Usage(input_tokens=5)))
    tally.add(ModelCall(usage=Usage(model="stated", input_tokens=5, cost_usd=0.0)))
    tally.add(ModelCall(usage=Usage(model="without tokens")))
    tally.add(ToolCall(name="ls", usage=Usage(model="in a tool", input_tokens=5)))
    assert tally.unpriced_calls == 5
    assert list(tally.unpriced_models) == ["small", "large", "", "stated"]
    assert tally.cost == units(0.3)
    assert tally.tokens == 1_000_030


def test_a_cost_of_zero_beside_tokens_is_not_known() -> None:
    """Tools that know no price write 0: in a call, and in the total of a run whose calls have tokens."""
    call = ModelCall(usage=Usage(model="large", input_tokens=600_000, cost_usd=0.0))
    total = Notice(kind=NoticeKind.TOTAL, usage=Usage(cost_usd=0.0))
    for run in ([call, total], [total, call]):
        tally = Tally()
        for event in run:
            tally.add(event)
        assert (tally.cost, tally.tokens, tally.unpriced_calls) == (None, 600_000, 1)
    priced = Tally(Prices({"large": {"input": 0.0}}, public=False))
    priced.add(call)
    assert (priced.cost, priced.unpriced_calls) == (0, 0)


def test_a_call_without_tokens_needs_no_price() -> None:
    """A message that the harness wrote in the model's name took nothing, and has no model."""
    tally = Tally(TABLE)
    tally.add(ModelCall(usage=Usage(model="small", input_tokens=1_000_000)))
    tally.add(ModelCall(usage=Usage(input_tokens=0, output_tokens=0)))
    assert (usd(tally.cost), tally.unpriced_calls, list(tally.unpriced_models)) == (0.3, 0, [])


def test_at_most_sixty_four_models_are_named() -> None:
    """All their calls count all the same."""
    tally = Tally()
    for number in range(100):
        tally.add(ModelCall(usage=Usage(model=f"model {number}", input_tokens=1)))
    assert tally.unpriced_calls == 100
    assert list(tally.unpriced_models) == [f"model {number}" for number in range(64)]


def test_without_prices_and_without_usage_nothing_is_known() -> None:
    """What no event stated is None; a cost of zero is known."""
    tally = Tally()
    tally.add(ToolCall(name="ls"))
    tally.add(ModelCall(usage=Usage()))
    assert (tally.cost, tally.tokens, tally.by_class) == (None, None, [None] * 4)
    tally.add(ModelCall(usage=Usage(cost_usd=0.0, output_tokens=0)))
    assert (tally.cost, tally.tokens, tally.by_class) == (0, 0, [None, 0, None, None])


@pytest.mark.parametrize("part", [ModelPart.CHUNK, ModelPart.THOUGHT])
def test_parts_of_a_call_are_no_calls(part: ModelPart) -> None:
    """Their tokens count, and they do not."""
    tally = Tally()
    tally.add(ModelCall(part=part, usage=Usage(output_tokens=3)))
    assert (tally.events, tally.model_calls, tally.tokens) == (1, 0, 3)


def test_reservations_count_where_they_are_made() -> None:
    """`charge` counts in one tally alone, and not in that of the run."""
    run = Tally()
    chain: Any = Tally(run=run)
    chain.charge(units(0.5), 7)
    assert (chain.cost, chain.tokens, run.cost, run.tokens) == (units(0.5), 7, None, None)
