"""Hooks that complain after each change."""

from collections.abc import Callable

import pytest

from ebbtide.checking import check_events
from ebbtide.divergence.monitor import find_loops
from ebbtide.events.event import Event, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.supervision.summary.headline import Headline

LEAST = Profile.DEFAULT.divergence.complaints or 0
LINT = "PostToolUse hook: [pnpm lint]: 3907 problems in src/client.gen.ts (DO NOT EDIT)"


def edited(complaint: Callable[[int], str], *, times: int = 12, quiet: int = 0) -> list[Event]:
    """A run that edits file after file; a hook says something of each edit, but for the quiet ones."""
    events: list[Event] = []
    for number in range(times):
        for part in range(1 + quiet):
            args = {"file_path": f"f{number}-{part}.ts", "old_string": "a", "new_string": f"b{number}"}
            events.append(ToolCall(name="Edit", args=args, result="The file was updated."))
        events.append(Notice(kind=NoticeKind.NOTE, text=complaint(number), error=True))
    return events


def test_a_hook_that_no_change_satisfies() -> None:
    """The same complaint after each change is for a person."""
    signal = find_loops(edited(lambda _: LINT))[0]
    assert (signal.kind, signal.last_event) == (LoopKind.COMPLAINT, 2 * LEAST)


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(edited(lambda n: LINT.replace("3907", str(90 - 7 * n))), id="fewer problems each time"),
        pytest.param(
            edited(lambda n: f"Edit hook: [lint]: f{n}.ts: {'abcdefghijkl'[n]} is not used"), id="others"
        ),
        pytest.param(edited(lambda _: LINT, quiet=3), id="most changes pass"),
        pytest.param(
            edited(
                lambda _: "Please always provide EXACTLY ONE action in triple backticks, found 0 actions."
            ),
            id="no hook: the form of a reply",
        ),
    ],
)
def test_a_hook_that_helps_is_left_alone(events: list[Event]) -> None:
    """Less is to do, it is something else each time, most changes pass, or no hook says it."""
    assert find_loops(events) == []


def blocked(complaint: Callable[[int], str], *, times: int = 14, calls: int = 1) -> list[Event]:
    """A run whose stop hook says something after each round of so many calls."""
    events: list[Event] = []
    for number in range(times):
        for part in range(calls):
            args = {"command": f"git add log && git commit -m 'round {number}-{part}'"}
            events.append(ToolCall(name="Bash", args=args, result=f"[main {number}{part}f] 1 file changed"))
        events.append(ModelCall(text=f"Committed, round {number}."))
        events.append(Notice(kind=NoticeKind.NOTE, text=f"Stop hook feedback: {complaint(number)}"))
    return events


def score(*numbers: float) -> Callable[[int], str]:
    return lambda n: f"judge: {numbers[n % len(numbers)]} / 10 (needed: 9.0). {('Warmer', 'Shorter')[n % 2]}."


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(blocked(lambda _: "Working tree is not clean:  M ops/hook.log"), id="its own dirt"),
        pytest.param(blocked(score(7.8, 7.6, 7.9, 7.4), calls=4), id="scores without a trend"),
    ],
)
def test_a_stop_hook_that_no_work_satisfies(events: list[Event]) -> None:
    """It keeps a run from its end that has little to do, or judges it without a trend."""
    assert LoopKind.COMPLAINT in {signal.kind for signal in find_loops(events)}


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(blocked(lambda _: "The goal is not met yet.", calls=4), id="rounds with work"),
        pytest.param(
            blocked(lambda n: f"Working tree is not clean: {'abcdefghijklmn'[n] * 3}.py"), id="other dirt"
        ),
        pytest.param(blocked(score(*(5 + number / 4 for number in range(14))), calls=4), id="it climbs"),
    ],
)
def test_a_stop_hook_that_gets_what_it_wants(events: list[Event]) -> None:
    """There is work in each round, something else is wrong, or the scores come nearer."""
    assert LoopKind.COMPLAINT not in {signal.kind for signal in find_loops(events)}


def test_the_words_of_a_hook_end_no_run() -> None:
    """They answer a call, and the model can make another one."""
    assert check_events(edited(lambda _: LINT)).headline is not Headline.FAILED
