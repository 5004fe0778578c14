"""Healthy runs that an earlier version stopped: telemetry without content, edits and checks, waiting."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ebbtide.events.event import Event, ModelCall, ToolCall
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.supervisor import Supervisor

_ROUNDS = 60
_ANSWERS = {
    "short": "ok".format,
    "constant": "The file src/app.py has been updated.".format,
    "snippet": lambda number: (
        f"Here is the result of the edit:\n  {number}\tvalue = {number}\n  {number + 1}\treturn value"
    ),
    "diff": lambda number: f"@@ -{number},2 +{number},2 @@\n-value = {number}\n+value = {number + 1}\n",
    "nothing": "".format,
}
_CHECKS = {
    "green tests": ("run_tests", {"path": "tests"}, "All checks passed!"),
    "tests with their time": ("Bash", {"command": "pytest -q"}, "{n} passed in 1.{n:02}s"),
    "a linter": ("Bash", {"command": "ruff check src"}, "All checks passed!"),
    "an unknown tool": ("verify", {}, "fine"),
}


def verdicts(events: Iterator[Event]) -> set[Action]:
    supervisor = Supervisor()
    actions = set()
    for event in events:
        if isinstance(event, ModelCall):
            actions.add(supervisor.check_before_model().action)
        actions.add(supervisor.record(event).action)
    assert supervisor.snapshot().calls.degraded == 0
    return actions


def edits_and_checks(tool: str, answer: str, check: str) -> Iterator[Event]:
    name, args, result = _CHECKS[check]
    for number in range(_ROUNDS):
        yield ModelCall(text=f"Now part {number}.")
        edit = {"path": "src/app.py", "old": f"value = {number}", "new": f"value = {number + 1}"}
        yield ToolCall(name=tool, args=edit, result=_ANSWERS[answer](number))
        yield ToolCall(name=name, args=args, result=result.format(n=12) if "{n}" in result else result)


@pytest.mark.parametrize("check", _CHECKS)
@pytest.mark.parametrize("answer", _ANSWERS)
@pytest.mark.parametrize("tool", ["edit_file", "patch_source"])
def test_edits_with_a_check_that_stays_green_are_work(tool: str, answer: str, check: str) -> None:
    """Field report, B: as a known tool and as an unknown one, whatever the answer looks like."""
    assert verdicts(edits_and_checks(tool, answer, check)) == {Action.ALLOW}


def test_telemetry_without_content_proves_nothing() -> None:
    """Field report, A1: neither arguments nor answers nor texts are recorded."""
    events = (
        event
        for number in range(100)
        for event in (ModelCall(), ToolCall(name=("search", "read", "search")[number % 3]))
    )
    assert verdicts(iter(events)) == {Action.ALLOW}


class Page:
    """An answer that prints only its address."""


@pytest.mark.parametrize(
    "answer", [Page, lambda: "<app.models.Page object at 0x7f3c2a1b4d90>", lambda: [Page()]]
)
def test_opaque_answers_are_equal_to_nothing(answer: object) -> None:
    """Field report, A2."""
    assert callable(answer)
    calls = (ToolCall(name="next_page", args={"of": "orders"}, result=answer()) for _ in range(40))
    assert verdicts(calls) == {Action.ALLOW}


@pytest.mark.parametrize(
    ("name", "args"), [("get_status", {"id": 7}), ("Bash", {"command": "gh run view 7"})]
)
@pytest.mark.parametrize("answer", ["in progress", "state: queued, position 4", "no new mail"])
def test_forty_minutes_of_waiting_are_waiting(name: str, args: dict[str, object], answer: str) -> None:
    """Field report, C: one look a minute."""
    looks = (ToolCall(name=name, args=args, result=answer, ts=60.0 * number) for number in range(40))
    assert verdicts(looks) == {Action.ALLOW}


def test_waiting_through_a_general_tool_is_waiting() -> None:
    """Field report, C: coding agents sleep in the shell, or write nothing to a running process."""
    looks = (
        ToolCall(
            name="Bash",
            args={"command": "sleep 60 && tail -1 build.log"},
            result="[ 40%] Building CXX object",
            ts=61.0 * number,
        )
        for number in range(40)
    )
    assert verdicts(looks) == {Action.ALLOW}


def test_a_quick_poll_is_advised_to_wait_and_never_ended() -> None:
    """Waiting has a clock: a nudge comes before anything else, and an end only from a limit."""
    supervisor = Supervisor()
    actions = []
    for number in range(120):
        call = ToolCall(name="get_status", args={"id": 7}, result="running", ts=2.0 * number)
        actions += [supervisor.check_before_model().action, supervisor.record(call).action]
    assert set(actions) == {Action.ALLOW, Action.NUDGE}


def test_runs_at_the_same_time_do_not_count_together() -> None:
    """Field report, A3: each has its own supervisor."""
    supervisors = [Supervisor() for _ in range(12)]
    for number in range(30):
        for supervisor in supervisors:
            call = ToolCall(name="search", args={"q": f"part {number}"}, result=f"hit {number}")
            assert supervisor.record(call).action is Action.ALLOW
