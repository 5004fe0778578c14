"""Hooks that complain after each change."""

from collections.abc import Callable

import pytest

from ebbtide.checking import check_events
from ebbtide.divergence.monitor import find_loops
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import Event, Notice, NoticeKind, ToolCall
from ebbtide.profile import Profile
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


def test_the_words_of_a_hook_end_no_run() -> None:
    """They answer a call, and the model can make another one."""
    assert check_events(edited(lambda _: LINT)).headline is not Headline.FAILED
