"""Looks at something that takes its time."""

from dataclasses import replace
from typing import Any

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile

RULES = Profile.DEFAULT.divergence
WAITS, POLLS = RULES.waits or 0, RULES.polls or 0
TOOLS = ToolPolicies(
    {
        "look": ToolPolicy(effect=Effect.READ),
        "poll": ToolPolicy(effect=Effect.POLL),
        "now": ToolPolicy(effect=Effect.CLOCK),
        "sleep": ToolPolicy(effect=Effect.WAIT),
    }
)


def look(tool: str, answer: str, *, gap: float | None = None) -> ToolCall:
    return ToolCall(name=tool, args={"job": 1}, result=answer, waited_s=gap)


SLEEP = ToolCall(name="sleep", args={"s": 9}, result="ok")


@pytest.mark.parametrize(
    ("turn", "looks"),
    [
        pytest.param([look("look", "running")], POLLS, id="it is under way"),
        pytest.param([look("look", "running"), SLEEP], WAITS, id="it is under way, with time between"),
        pytest.param([look("look", "3 of 7"), SLEEP], WAITS, id="a wait between"),
        pytest.param([look("look", "3 of 7", gap=RULES.wait_s)], WAITS, id="a pause between"),
        pytest.param([look("poll", "x")], POLLS, id="a poll"),
        pytest.param([look("poll", "x", gap=RULES.wait_s)], WAITS, id="a poll with a pause between"),
        pytest.param([look("now", "x")], POLLS, id="the clock"),
    ],
)
def test_waiting_has_more_patience(turn: list[Event], looks: int) -> None:
    """Equal looks at what may still come are waiting: fewer where no time passes, many where it does."""
    events = turn * WAITS
    signal = find_loops(events, tools=TOOLS)[0]
    seen = sum(event is not SLEEP for event in events[: signal.last_event])
    assert (signal.kind, seen, signal.is_proof) == (LoopKind.WAITING, looks, False)
    off = Profile(name="off", divergence=replace(RULES, waits=None, polls=None))
    assert find_loops(events, off, tools=TOOLS) == []


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param([look("look", "3 of 7", gap=RULES.wait_s - 1)], id="a pause that is too short"),
        pytest.param([look("look", '{"status": "failed"}'), SLEEP], id="it failed"),
        pytest.param([look("look", "the job is done"), SLEEP], id="it is done"),
    ],
)
def test_what_is_over_is_not_waited_for(turn: list[Event]) -> None:
    """An answer that says that it ended, or looks in quick succession, are a plain repeat."""
    signal = find_loops(turn * RULES.copies, tools=TOOLS)[0]
    assert (signal.kind, signal.copies, signal.is_proof) == (LoopKind.REPEAT, RULES.copies, True)


@pytest.mark.parametrize("tool", ["look", "poll"])
def test_what_moves_is_left_alone(tool: str) -> None:
    """Each new answer begins the count afresh."""
    events: list[Any] = [look(tool, f"{n // 2} % done") for n in range(2 * WAITS)]
    assert find_loops(events, tools=TOOLS) == []
