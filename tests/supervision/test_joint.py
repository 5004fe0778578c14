"""High burn and flat progress: both shares, and over the same stretch."""

from dataclasses import replace

import pytest

from ebbtide.budget.tally import units
from ebbtide.divergence.detectors.spend import SpentSoFar
from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.events.event import Event, Message, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules
from ebbtide.supervision.judgement import Burn, burn, calls_without_news, flatness
from ebbtide.supervision.wording import reason

PROFILE = replace(
    Profile.DEFAULT,
    divergence=LoopRules(stale=10, usd_without_news=2.0, tokens_without_news=1_000, usd_per_hour=100.0),
)


def watched(*events: Event) -> LoopMonitor:
    monitor = LoopMonitor(PROFILE)
    for event in events:
        monitor.update(event)
    return monitor


def loops(*events: Event) -> LoopState:
    state = watched(*events).latest
    assert state is not None
    return state


def idle(count: int, usage: Usage | None = None, ts: float | None = None) -> list[Event]:
    return [ToolCall(name=f"t{n % 3}", args={}, result="same", usage=usage, ts=ts) for n in range(count + 3)]


def measured(
    state: LoopState,
    *,
    profile: Profile = PROFILE,
    progress: SpentSoFar | None = None,
    left_usd: float | None = None,
    left_tokens: int | None = None,
) -> Burn:
    left_cost = None if left_usd is None else units(left_usd)
    return burn(profile, state, progress or SpentSoFar(), 0, left_cost=left_cost, left_tokens=left_tokens)


def test_flatness_adds_what_calls_and_rounds_lack():
    """Five of ten idle calls and one of three dry rounds: 0.5 and a third."""
    assert flatness(PROFILE, 5, 0) == 0.5
    assert flatness(PROFILE, 5, 1) == pytest.approx(0.5 + 1 / 3)
    assert flatness(replace(PROFILE, divergence=LoopRules(stale=None)), 16, 0) == 0.5


MONEY, TOKENS = Usage(cost_usd=0.25), Usage(input_tokens=100)
MEASURES = {
    "money": (MONEY, None, None, 0.5, "$1.00 since the last new result"),
    "tokens": (TOKENS, None, None, 0.4, "400 tokens since the last new result"),
    "what is left in money": (MONEY, 0.5, None, 2.0, "$1.00 since the last new result, $0.50 left"),
    "what is left in tokens": (
        TOKENS,
        None,
        500,
        0.8,
        "400 tokens since the last new result, 500 tokens left",
    ),
    "nothing left": (TOKENS, None, 0, 1.0, "400 tokens since the last new result, 0 tokens left"),
    "nothing known": (None, None, None, 0.0, ""),
}


@pytest.mark.parametrize(("usage", "usd", "tokens", "share", "words"), MEASURES.values(), ids=MEASURES)
def test_the_measure_that_has_come_furthest_counts(usage, usd, tokens, share, words):
    """Four idle calls after three new ones; what the new ones cost is not in it."""
    result = measured(loops(*idle(4, usage)), left_usd=usd, left_tokens=tokens)
    assert result.spending == pytest.approx(share)
    assert words in reason(result.facts)
    assert (result.facts.calls, result.flatness) == (4, 0.4)
    assert result.share == min(result.spending, result.flatness)


def test_a_round_that_brought_something_is_progress_too():
    """What was spent before it does not count."""
    result = measured(loops(*idle(4, MONEY)), progress=SpentSoFar(cost=units(1.5)))
    assert result.facts.measure.value == pytest.approx(0.25)
    assert result.spending == pytest.approx(0.125)


def test_the_rate_of_the_last_hour_counts():
    """75 dollars in an hour of 100."""
    rules = LoopRules(usd_without_news=None, usd_per_hour=100.0)
    events = idle(4, Usage(cost_usd=75.0 / 7), ts=1.0)
    result = measured(loops(*events), profile=replace(PROFILE, divergence=rules))
    assert result.spending == pytest.approx(0.75)
    assert reason(result.facts).endswith("$75.00 in the last hour")


def test_a_person_begins_the_stretch_afresh():
    """What was idle before new words of a person is not idle after them."""
    monitor = watched(*idle(4))
    state = monitor.latest
    assert state is not None
    assert calls_without_news(state) == 4
    monitor.update(Message(text="Try the other one."))
    assert calls_without_news(state) == 0
    for expected in (0, 1, 2):  # the first look after it is a new one
        monitor.update(ToolCall(name="t0", args={}, result="same"))
        assert calls_without_news(state) == expected
