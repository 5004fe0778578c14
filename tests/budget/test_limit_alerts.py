"""How near a run has come to its limits: warned of, one call left, reached."""

import json
from dataclasses import replace
from typing import Any

import pytest

from ebbtide.budget.limit_alerts import LimitAlert, LimitAlerts, Nearness
from ebbtide.budget.limits import LimitKind, Limits, Missing
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import Tally, units
from ebbtide.errors import ConfigError
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage

SAY = ModelCall(agent="writer", text="hm", usage=Usage(model="m", input_tokens=5))
WARN, LAST, UNKNOWN, REACHED = Nearness
THINK = ModelCall(text="hm")
PAID = ModelCall(text="hm", usage=Usage(cost_usd=0.25, input_tokens=10))
LS = ToolCall(name="ls")


class Run:
    """A tally and its alerts, fed with the same events."""

    def __init__(self, limits: Limits, prices: Prices | None = None) -> None:
        self.limits = limits
        self.tally = Tally(prices)
        self.alerts = LimitAlerts(limits, self.tally)

    def see(self, *events: Event) -> list[list[Nearness]]:
        """How near each event brings what it brings nearer."""
        return [[alert.nearness for alert in self.take(event)] for event in events]

    def take(self, event: Event) -> list[LimitAlert]:
        self.tally.add(event, event.ts)
        return self.alerts.see(event)

    def restarted(self) -> "Run":
        again = Run(self.limits)
        again.tally.restore(json.loads(json.dumps(self.tally.to_state())))
        again.alerts.restore(json.loads(json.dumps(self.alerts.to_state())))
        return again


SCENARIOS: dict[str, tuple[Limits, list[Event], list[list[Nearness]]]] = {
    "cost": (Limits(cost_usd=1.0), [PAID] * 5, [[], [], [LAST], [REACHED], []]),
    "tokens": (Limits(tokens=40), [PAID] * 4, [[], [], [LAST], [REACHED]]),
    "model calls": (Limits(llm_calls=3), [THINK] * 3, [[], [LAST], [REACHED]]),
    "tool calls": (Limits(tool_calls=2, warn_at=None), [LS] * 3, [[], [LAST], [REACHED]]),
    "warning": (Limits(steps=10), [LS] * 9, [[]] * 6 + [[WARN], [], [LAST]]),
    "no warning": (Limits(steps=10, warn_at=None), [LS] * 9, [[]] * 8 + [[LAST]]),
    "time": (Limits(wall_s=10), [replace(LS, ts=5.0 * n) for n in range(3)], [[], [], [REACHED]]),
    "time of messages": (Limits(wall_s=10), [Message(ts=0.0), Message(ts=7.0)], [[], [WARN]]),
    "nothing allowed": (Limits(steps=0), [LS], [[REACHED]]),
    "several at once": (Limits(cost_usd=0.5, tokens=20), [PAID] * 2, [[LAST] * 2, [REACHED] * 2]),
    "thoughts are no calls": (
        Limits(llm_calls=1, warn_at=None),
        [ModelCall(part=ModelPart.THOUGHT, text="hm"), Message(text="x")],
        [[], []],
    ),
    "retries": (
        Limits(retries=1, warn_at=None),
        [ToolCall(name="a", error=True), ToolCall(name="b"), ToolCall(name="a", error=True)],
        [[], [], [REACHED]],
    ),
    "what a notice took": (
        Limits(tokens=10),
        [Notice(kind=NoticeKind.USAGE, usage=Usage(output_tokens=10))],
        [[REACHED]],
    ),
    "what a message took": (Limits(tokens=10), [Message(usage=Usage(output_tokens=8))], [[WARN]]),
    "what a tool took is no measure of a call": (
        Limits(cost_usd=1.0),
        [PAID, ToolCall(name="ls", usage=Usage(cost_usd=0.4))],
        [[], []],
    ),
    "numbers that cannot be": (
        Limits(cost_usd=1.0, tokens=1),
        [ModelCall(usage=Usage(cost_usd=float("nan"), input_tokens=-1))] * 3,
        [[], [UNKNOWN] * 2, []],
    ),
    "numbers that cannot be, allowed": (
        Limits(cost_usd=1.0, tokens=1, when_unknown="allow"),
        [ModelCall(usage=Usage(cost_usd=float("nan"), input_tokens=-1))] * 3,
        [[], [], []],
    ),
}


@pytest.mark.parametrize(("limits", "events", "expected"), SCENARIOS.values(), ids=SCENARIOS)
def test_a_limit_is_reported_as_it_comes_nearer(
    limits: Limits, events: list[Event], expected: list[list[Nearness]]
) -> None:
    """Once when the share is used, once when one call is left, once when none is; also after a restart."""
    assert Run(limits).see(*events) == expected
    run, nearness = Run(limits), []
    for event in events:
        run = run.restarted()
        nearness += run.see(event)
    assert nearness == expected


def test_an_alert_has_the_value_and_the_limit() -> None:
    """Money in dollars, and how much is left in units."""
    run = Run(Limits(cost_usd=1.0, tool_calls=9))
    run.see(PAID, PAID)
    (alert,) = run.take(PAID)
    assert alert == LimitAlert(LimitKind.COST_USD, LAST, 0.75, 1.0)
    assert run.alerts.left(LimitKind.COST_USD) == units(0.25)
    assert run.alerts.left(LimitKind.TOOL_CALLS) == 9
    assert run.alerts.left(LimitKind.WALL_S) is None


def test_the_time_can_run_out_while_nothing_happens() -> None:
    """The time is given from outside, on the clock of the events."""
    run = Run(Limits(wall_s=60))
    run.take(replace(LS, ts=100.0))
    assert run.alerts.at(130.0) == []
    assert [alert.nearness for alert in run.alerts.at(150.0)] == [WARN]
    assert run.alerts.at(float("nan")) == []
    assert [alert.nearness for alert in run.alerts.at(160.0)] == [REACHED]
    assert run.alerts.at(170.0) == []


def test_other_limits_may_be_set_and_what_was_taken_counts() -> None:
    """A person who allows more steps gets as many as are left of them."""
    run = Run(Limits(steps=3, retries=2, warn_at=None))
    assert run.see(ToolCall(name="a", error=True), ToolCall(name="a"), LS) == [[], [LAST], [REACHED]]
    run.alerts = run.alerts.replaced(Limits(steps=5, retries=2, warn_at=None))
    assert run.see(ToolCall(name="b", error=True)) == [[LAST]]
    assert run.see(ToolCall(name="b", error=True)) == [[REACHED, REACHED]]


def test_prices_turn_tokens_into_money() -> None:
    """Events that state tokens count at the price of their model."""
    prices = Prices({"m": {"input": 1_000_000.0}}, public=False)
    run = Run(Limits(cost_usd=4.0, warn_at=None), prices)
    assert run.see(*[ModelCall(usage=Usage(model="m", input_tokens=2))] * 2) == [[LAST], [REACHED]]


def test_a_limit_holds_for_all_chains() -> None:
    """Alerts read the tally of the run, to which those of its chains add up."""
    run = Run(Limits(cost_usd=1.0, warn_at=None))
    chains = [Tally(run=run.tally) for _ in range(2)]
    nearness = []
    for number in range(4):
        chains[number % 2].add(PAID)
        nearness.append([alert.nearness for alert in run.alerts.see(PAID)])
    assert nearness == [[], [], [LAST], [REACHED]]


TOOL_COST = ToolCall(name="ls", usage=Usage(cost_usd=0.4))
HISTORIES: dict[str, tuple[Limits, list[Event], list[list[Nearness]]]] = {
    "what a call takes": (
        Limits(cost_usd=1.0, warn_at=None),
        [PAID, TOOL_COST, ToolCall(name="ls", usage=Usage(cost_usd=0.1))],
        [[], [], [LAST]],
    ),
    "how often was tried again": (
        Limits(retries=2, warn_at=None),
        [ToolCall(name="a", error=True)] * 2 + [ToolCall(name="a")],
        [[], [], [REACHED]],
    ),
    "what succeeded is not tried again": (
        Limits(retries=2, warn_at=None),
        [ToolCall(name="a", error=True), ToolCall(name="a"), ToolCall(name="a")],
        [[], [], []],
    ),
    "before any call of a model": (
        Limits(tokens=10, wall_s=10, warn_at=None),
        [Message(ts=0.0), Message(ts=9.5, usage=Usage(output_tokens=9)), Message(ts=10.0)],
        [[], [], [REACHED]],
    ),
}


@pytest.mark.parametrize("change", ["none", "restart", "other limits"])
@pytest.mark.parametrize(("limits", "events", "expected"), HISTORIES.values(), ids=HISTORIES)
def test_later_alerts_rest_on_what_was_before(
    limits: Limits, events: list[Event], expected: list[list[Nearness]], change: str
) -> None:
    """The size of the last call and the retries outlive a restart, and limits that are set anew."""
    run = Run(limits)
    nearness = run.see(*events[:-1])
    if change == "restart":
        run = run.restarted()
    elif change == "other limits":
        run.alerts = run.alerts.replaced(limits)
    assert nearness + run.see(events[-1]) == expected


@pytest.mark.parametrize("change", ["restart", "other limits"])
def test_time_that_passed_without_events_is_remembered(change: str) -> None:
    """The first question starts the clock where no event does, also for what comes later."""
    run = Run(Limits(wall_s=60, warn_at=None))
    assert run.alerts.left(LimitKind.WALL_S) == 60
    run.alerts.at(100.0)
    run.alerts.at(140.0)
    if change == "restart":
        run = run.restarted()
    else:
        run.alerts = run.alerts.replaced(run.limits)
    assert run.alerts.left(LimitKind.WALL_S) == 20
    assert [alert.nearness for alert in run.alerts.at(160.0)] == [REACHED]


def test_failed_calls_are_remembered_for_a_while() -> None:
    """The last 256 of them: memory has a bound."""
    run = Run(Limits(retries=1, warn_at=None))
    run.see(*[ToolCall(name=f"tool {number}", error=True) for number in range(257)])
    assert run.see(ToolCall(name="tool 0")) == [[]]
    assert run.see(ToolCall(name="tool 1")) == [[REACHED]]


@pytest.mark.parametrize("now", [float("inf"), float("-inf"), float("nan"), 1e300, True, None, "160"])
def test_what_is_no_time_starts_no_clock(now: Any) -> None:
    """A limit of time is not reached by a number that cannot be a time."""
    run = Run(Limits(wall_s=60))
    assert run.alerts.at(now) == []
    assert run.alerts.at(1_000.0) == []
    assert run.alerts.at(now) == []
    assert run.alerts.left(LimitKind.WALL_S) == 60


LATER = Notice(kind=NoticeKind.USAGE, usage=Usage(cost_usd=0.1, input_tokens=3))
MONEY, TOKENS, TIME = Limits(cost_usd=1.0), Limits(tokens=90), Limits(wall_s=60)
UNCOUNTED: dict[str, tuple[Limits, list[Event], list[list[Nearness]]]] = {
    "tokens without a price": (MONEY, [SAY, SAY], [[UNKNOWN], []]),
    "of a part": (MONEY, [replace(SAY, part=ModelPart.CHUNK)], [[UNKNOWN]]),
    "of a tool": (MONEY, [ToolCall(name="a", usage=Usage(output_tokens=1))], [[UNKNOWN]]),
    "of a failed call": (MONEY, [replace(SAY, error=True)], [[UNKNOWN]]),
    "of a notice": (MONEY, [THINK, replace(LATER, usage=Usage(output_tokens=1))], [[], [UNKNOWN]]),
    "calls without usage": (MONEY, [THINK, LS, THINK, THINK], [[], [], [UNKNOWN], []]),
    "without tokens": (TOKENS, [THINK, THINK], [[], [UNKNOWN]]),
    "with a cost and no tokens": (TOKENS, [ModelCall(usage=Usage(cost_usd=0.1))] * 2, [[], [UNKNOWN]]),
    "usage that comes later": (MONEY, [THINK, LATER, THINK, LATER, PAID], [[], [], [], [], []]),
    "usage of another chain": (MONEY, [THINK, replace(LATER, chain_id="b"), THINK], [[], [], [UNKNOWN]]),
    "chains by turns": (MONEY, [THINK, replace(THINK, chain_id="b"), LATER, THINK], [[], [], [], []]),
    "calls that failed": (MONEY, [replace(THINK, error=True)] * 3, [[], [], []]),
    "what is free": (MONEY, [ModelCall(usage=Usage(cost_usd=0.0))] * 3, [[], [], []]),
    "no tokens": (MONEY, [ModelCall(usage=Usage(model="m", input_tokens=0))] * 2, [[], [UNKNOWN]]),
    "no times": (TIME, [LS, LS, LS], [[], [UNKNOWN], []]),
    "one time": (TIME, [replace(LS, ts=5.0), LS, LS], [[], [], []]),
    "no times of messages": (TIME, [Message(), Message(), LS], [[], [], []]),
    "allowed": (
        Limits(cost_usd=1.0, tokens=90, wall_s=60, when_unknown="allow"),
        [SAY, THINK, THINK],
        [[], [], []],
    ),
    "no such limit": (Limits(steps=90), [SAY, THINK, THINK], [[], [], []]),
    "reached all the same": (
        Limits(cost_usd=0.5, warn_at=None),
        [THINK, THINK, PAID, PAID, PAID],
        [[], [UNKNOWN], [], [REACHED], []],
    ),
}


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize(("limits", "events", "expected"), UNCOUNTED.values(), ids=UNCOUNTED)
def test_a_limit_that_cannot_be_counted(
    limits: Limits, events: list[Event], expected: list[list[Nearness]], restarts: bool
) -> None:
    """It is reported once, at the first event that shows it; also where the process ends in between."""
    run, nearness = Run(limits), []
    for event in events:
        nearness += run.see(event)
        if restarts:
            run = run.restarted()
    assert nearness == expected


def test_what_is_missing_is_named() -> None:
    """The alert has the model or agent, for the sentence."""
    (alert,) = Run(MONEY).take(SAY)
    assert (alert.kind, alert.missing, alert.subject, alert.value, alert.limit) == (
        LimitKind.COST_USD,
        Missing.PRICE,
        "m",
        0,
        1.0,
    )
    run = Run(TOKENS)
    run.take(ModelCall(agent="writer"))
    (alert,) = run.take(THINK)
    assert (alert.kind, alert.missing, alert.subject) == (LimitKind.TOKENS, Missing.USAGE, "writer")


def test_a_call_that_is_asked_for_shows_what_is_missing() -> None:
    """Before the second call a usage, and a time, are due; a time may come with the question."""
    limits = Limits(cost_usd=1.0, wall_s=60)
    run = Run(limits)
    assert run.alerts.before_model(None, None) == []
    run.take(THINK)
    assert [alert.kind for alert in run.alerts.before_model("", None)] == [
        LimitKind.COST_USD,
        LimitKind.WALL_S,
    ]
    assert run.alerts.before_model("", None) == []
    run = Run(limits)
    run.alerts.before_model(None, 5.0)
    run.take(THINK)
    assert [alert.kind for alert in run.alerts.before_model("", None)] == [LimitKind.COST_USD]


def test_what_is_missing_may_be_allowed_later() -> None:
    """Other limits that allow it lift it; those that do not report it again."""
    run = Run(MONEY)
    run.see(THINK, THINK)
    limits = run.alerts
    run.alerts = limits.replaced(replace(MONEY, when_unknown="allow"))
    assert run.see(THINK, THINK) == [[], []]
    run.alerts = limits.replaced(MONEY)
    assert run.see(THINK) == [[UNKNOWN]]


def test_what_could_not_be_counted_when_it_is_over() -> None:
    """At its end a run has every limit that could not be counted; a total that comes last is enough."""
    run = Run(Limits(cost_usd=1.0, tokens=90, wall_s=60, when_unknown="allow"))
    run.see(THINK)
    assert {alert.kind for alert in run.alerts.uncounted()} == {"cost_usd", "tokens", "wall_s"}
    run.see(replace(THINK, chain_id="b"), THINK, replace(LATER, ts=5.0))
    assert {alert.kind for alert in run.alerts.uncounted()} == {"cost_usd", "tokens"}
    total = run.restarted()
    total.see(replace(LATER, kind=NoticeKind.TOTAL))
    assert total.alerts.uncounted() == []
    run.see(LATER, LATER)
    assert run.alerts.uncounted() == []
    run.see(SAY)
    assert [alert.missing for alert in run.alerts.uncounted()] == [Missing.PRICE]


def test_a_run_is_not_restored_without_its_limits() -> None:
    """A limit that is left out would be open."""
    state = LimitAlerts(Limits(steps=3, cost_usd=1.0), Tally()).to_state()
    with pytest.raises(ConfigError, match="limit of cost_usd"):
        LimitAlerts(Limits(steps=3), Tally()).restore(state)


def test_many_chains_without_usage_are_not_forgotten() -> None:
    """There is a bound, past which it is reported at once."""
    run = Run(MONEY)
    alerts = run.see(*[ModelCall(chain_id=str(number)) for number in range(4097)])
    assert alerts == [[]] * 4096 + [[UNKNOWN]]


@pytest.mark.parametrize(
    ("limits", "depths", "expected"),
    [
        (Limits(max_agents=4), [1] * 5, [[], [], [WARN], [], [REACHED]]),
        (Limits(max_agents=2, warn_at=None), [1] * 3, [[], [], [REACHED]]),
        (Limits(max_agents=0), [1], [[REACHED]]),
        (Limits(max_depth=2, warn_at=None), [1, 2, 2, 3], [[], [], [], [REACHED]]),
        (Limits(max_depth=1), [1, 1], [[WARN], []]),
    ],
)
def test_agents_are_limited_by_number_and_level(
    limits: Limits, depths: list[int], expected: list[list[Nearness]]
) -> None:
    """As many as the limit says may be started: one more reaches it, after a restart too."""
    run = Run(limits)
    found = []
    for depth in depths:
        run = run.restarted()
        run.tally.add_agent(depth)
        found.append([alert.nearness for alert in run.alerts.agents()])
    assert found == expected


def test_one_more_agent_is_foreseen() -> None:
    """The limit that the next agent would pass is known before it is started."""
    run = Run(Limits(max_agents=1, max_depth=2))
    assert run.alerts.one_more_agent(1) is None
    deep = run.alerts.one_more_agent(3)
    run.tally.add_agent(1)
    many = run.alerts.one_more_agent(1)
    assert [(alert.kind.value, alert.value) for alert in (deep, many) if alert] == [
        ("max_depth", 3),
        ("max_agents", 2),
    ]
