"""Test runs and commits by tools that have no command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.checking import check
from ebbtide.cli.runs.demo import demo_runs
from ebbtide.events.event import Event, ToolCall
from tests.claims.conftest import answers, edit


def run_of_tests(
    result: str | None, *, name: str = "run_tests", error: bool = False, **args: object
) -> ToolCall:
    """A call of a tool that runs tests."""
    return ToolCall(name=name, args=args, result=result, error=error)


COMMIT = ToolCall(name="git_commit", args={"message": "Mend"}, result="1 file changed")
CASES: dict[str, tuple[list[Event], str, list[str]]] = {
    "a count proves": ([run_of_tests("40 passed")], "All 40 tests pass.", ["count proven 1"]),
    "a lower count contradicts": (
        [run_of_tests("6 failed, 34 passed", error=True)],
        "All 40 tests pass.",
        ["count contradicted 1"],
    ),
    "the tool of a server is one": (
        [run_of_tests("40 passed", name="mcp__ide__runTests")],
        "All 40 tests pass.",
        ["count proven 1"],
    ),
    "a change after it makes it stale": (
        [run_of_tests("40 passed"), edit("a.py")],
        "All 40 tests pass.",
        ["count stale 1"],
    ),
    "one file is not all": (
        [run_of_tests("40 passed", path="tests/test_a.py")],
        "All tests pass.",
        ["tests_pass narrower 1"],
    ),
    "a failure without a count is unknown": (
        [run_of_tests("no such tool", error=True)],
        "All 40 tests pass.",
        ["count unknown 1"],
    ),
    "a result that was not recorded is unknown": (
        [run_of_tests(None)],
        "All 40 tests pass.",
        ["count unknown 1"],
    ),
    "a name that only sounds like one is none": (
        [ToolCall(name="list_tests", args={}, result="40 passed")],
        "All 40 tests pass.",
        ["count unsupported"],
    ),
    "a commit by a tool is one": ([COMMIT], "The fix is committed.", ["committed proven 1"]),
}


@pytest.mark.parametrize(("events", "report", "expected"), CASES.values(), ids=CASES)
def test_a_tool_counts_as_its_command_does(events: list[Event], report: str, expected: list[str]) -> None:
    """What the tool prints is held against the claim, and what it leaves out is unknown."""
    assert answers(events, report) == expected


def test_the_demo_says_of_its_tests_and_its_claims_the_same(tmp_path: Path) -> None:
    """The calls row lists runs of the tests, so the claims row does not deny that there were any."""
    run = tmp_path / "healthy.jsonl"
    run.write_text(demo_runs()[run.name], encoding="utf-8")
    summary = check(str(run))
    assert [tool.name for tool in summary.facts.failures.by_tool] == ["run_tests"]
    assert summary.facts.failures.message == "6 failed"
    assert [check.answer.value for check in summary.claims] == ["proven", "proven"]
