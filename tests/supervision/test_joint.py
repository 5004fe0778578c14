"""High burn and flat progress: both shares, and over the same stretch."""

from dataclasses import replace

import pytest

from ebbtide.events.event import Event, Message, ToolCall
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules
from ebbtide.supervision.joint import Progress, burn, flatness, stretch
from ebbtide.supervision.run_monitor import RunMonitor

PROFILE = replace(
    Profile.DEFAULT,
    divergence=LoopRules(stale=10, usd_without_news=2.0, tokens_without_news=1_000, usd_per_hour=100.0),
)


def watched(*calls: Event) -> RunMonitor:
    monitor = RunMonitor(PROFILE)
    for call in calls:
        monitor.update(call)
    return monitor


def idle(count: int, **fields: object) -> list[Event]:
    return [ToolCall(name=f"t{n % 3}", result="same", **fields) for n in range(count + 3)]


def test_flatness_adds_what_calls_and_rounds_lack():
    """Five of ten idle calls and one of three dry rounds: 0.5 and a third."""
    assert flatness(PROFILE, 5, 0) == 0.5
    assert flatness(PROFILE, 5, 1) == pytest.approx(0.5 + 1 / 3)
    assert flatness(replace(PROFILE, divergence=LoopRules(stale=None)), 16, 0) == 0.5


MEASURES = {
    "money": ({"cost_usd": 0.25}, None, None, 0.5, "$1.00 since anything new"),
    "tokens": ({"input_tokens": 100}, None, None, 0.4, "400 tokens since anything new"),
    "what is left in money": ({"cost_usd": 0.25}, 0.5, None, 2.0, "$0.50 left"),
    "what is left in tokens": ({"input_tokens": 100}, None, 500, 0.8, "500 left"),
    "nothing left": ({"input_tokens": 100}, None, 0, 1.0, "0 left"),
    "nothing told": ({}, None, None, 0.0, ""),
}


@pytest.mark.parametrize(("fields", "usd", "tokens", "share", "words"), MEASURES.values(), ids=MEASURES)
def test_the_measure_that_is_furthest_counts(fields, usd, tokens, share, words):
    """Four idle calls after three new ones; what the new ones cost is not in it."""
    watch = watched(*idle(4, **fields)).latest
    assert watch is not None
    found = burn(PROFILE, watch, Progress(), 0, left_usd=usd, left_tokens=tokens)
    assert found.spending == pytest.approx(share)
    assert words in found.measure
    assert (found.calls, found.flatness) == (4, 0.4)
    assert found.share == min(found.spending, found.flatness)


def test_a_round_that_brought_something_is_progress_too():
    """What was spent before it does not count."""
    watch = watched(*idle(4, cost_usd=0.25)).latest
    assert watch is not None
    found = burn(PROFILE, watch, Progress(cost_usd=1.5), 0, left_usd=None, left_tokens=None)
    assert found.cost_usd == pytest.approx(0.25)


def test_the_rate_of_the_last_hour_counts():
    """75 dollars in an hour of 100."""
    watch = watched(*idle(4, cost_usd=75.0 / 7, ts=1.0)).latest
    assert watch is not None
    found = burn(
        replace(PROFILE, divergence=LoopRules(usd_without_news=None, usd_per_hour=100.0)),
        watch,
        Progress(),
        0,
        left_usd=None,
        left_tokens=None,
    )
    assert found.spending == pytest.approx(0.75)
    assert "in the last hour" in found.measure


def test_a_person_begins_the_stretch_afresh():
    """What was idle before new words of a person is not idle after them."""
    monitor = watched(*idle(4))
    watch = monitor.latest
    assert watch is not None
    assert stretch(watch) == 4
    monitor.update(Message(text="Try the other one."))
    assert stretch(watch) == 0
    for expected in (0, 1, 2):  # the first look after it is a new one
        monitor.update(ToolCall(name="t0", result="same"))
        assert stretch(watch) == expected
