"""Tools that fail: what is an outage, and where a streak of one error begins."""

import pytest

from ebbtide.divergence.moment import says_outage
from ebbtide.divergence.monitor import find_loops
from ebbtide.events.event import ToolCall
from ebbtide.profile.loop_kinds import LoopKind


@pytest.mark.parametrize(
    ("status", "down"),
    [
        (404, False),
        (428, False),
        (429, True),
        (430, False),
        (499, False),
        (500, True),
        (599, True),
        (600, False),
    ],
)
def test_a_status_that_says_a_service_is_down(status: int, down: bool) -> None:
    """429 and 500 to 599; where there is a status, the answer is not read."""
    assert says_outage(status, "503 at first sight" if not down else "fine") is down


@pytest.mark.parametrize(("answer", "down"), [("HTTP 503", True), ("port 5030", False), (503, False)])
def test_an_answer_that_says_a_service_is_down(answer: object, down: bool) -> None:
    """Without a status, a number of its own in the text is one."""
    assert says_outage(None, answer) is down


def test_a_streak_of_one_error_begins_with_its_first_call() -> None:
    """Failures before it, of other kinds, do not belong to it."""
    errors = ["no table", "no column", *["too many connections"] * 4]
    run = [
        ToolCall(name="sql", args={"query": f"select {number * 7919 % 97}"}, result=error, error=True)
        for number, error in enumerate(errors)
    ]
    (signal,) = find_loops(run)
    assert (signal.kind, signal.first_event, signal.last_event) == (LoopKind.SAME_ERROR, 3, 6)
