"""Looks at something that takes its time."""

from dataclasses import replace
from typing import Any

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind

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


READ = ToolPolicies({"look": ToolPolicy(effect=Effect.READ), "run": ToolPolicy(command="command")})
DOWN = "curl: (7) Failed to connect to localhost port 4000: Couldn't connect to server"


def run(command: str, answer: str, *, gap: float = 40.0, error: bool = False) -> ToolCall:
    return ToolCall(name="run", args={"command": command}, result=answer, waited_s=gap, error=error)


@pytest.mark.parametrize(
    ("before", "again", "at"),
    [
        pytest.param(
            [], ToolCall(name="look", args={"path": "a.py"}, result="x = 1", waited_s=150.0), 3, id="a file"
        ),
        pytest.param([], run("grep -rn total src", "src/a.py:1: total"), 3, id="a search"),
        pytest.param(
            [], run("sleep 30; curl localhost:4000", DOWN, error=True), RULES.outage, id="nobody started it"
        ),
        pytest.param(
            [],
            run("sleep 600; kubectl get pods", "web 0/1 ImagePullBackOff 0 9m", gap=602.0),
            4,
            id="no cure",
        ),
        pytest.param(
            [run("npm run dev &", "")],
            run("sleep 30; curl localhost:4000", DOWN, error=True),
            None,
            id="started",
        ),
        pytest.param(
            [],
            run(
                "sleep 200; psql -h r2 -c 'select 1'",
                "FATAL: the database is starting up",
                error=True,
                gap=205.0,
            ),
            None,
            id="it starts up",
        ),
        pytest.param(
            [], run("sleep 60; gh pr view 7", '{"review": "REQUIRED"}', gap=62.0), None, id="a declared wait"
        ),
    ],
)
def test_a_pause_excuses_only_waiting(before: list[Event], again: ToolCall, at: int | None) -> None:
    """What nobody changes, nobody started, or time does not cure is a plain repeat, at any pace."""
    signals = find_loops([*before, *[again] * 11], tools=READ)
    assert [signal.last_event for signal in signals][:1] == ([] if at is None else [at])


@pytest.mark.parametrize(
    ("answer", "is_state"),
    [
        ('{"id": 7, "status": "running"}', True),
        ("still running", True),
        ("2 of 3 completed, 1 running", True),
        ("web-1   Pending   0   4m", True),
        ("Waiting for the rollout to finish: 1 of 8 updated", True),
        ("No pending invoices", False),
        ("Error: please try again while nothing is pending here", False),
        ("invoice 4 has the pending flag of the old schema", False),
    ],
)
def test_a_word_is_no_state(answer: str, is_state: bool) -> None:
    """Something has to be in it."""
    signals = find_loops([look("look", answer)] * (POLLS - 1), tools=TOOLS)
    assert (not signals) is is_state
