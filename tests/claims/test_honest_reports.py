"""Reports that are true, or may be: no record speaks against them."""

from __future__ import annotations

import pytest

from ebbtide.events.event import Event, Message, ToolCall
from tests.claims.conftest import (
    AGENT,
    FAILED,
    GO,
    PASSED,
    PUSHED,
    REJECTED,
    answers,
    edit,
    is_accused,
    shell,
    write,
)

_COMMITTED = "[main e77b3f2] x\n 2 files changed, 3 insertions(+)"
_AMENDED = "[main 9c1d0aa] x\n 2 files changed, 3 insertions(+)"
_ONE_FAILED = "=== 1 failed in 1s ==="
_WARNED = "\u2716 2 problems (0 errors, 2 warnings)"


def _read(path: str, first: int, lines: int) -> ToolCall:
    return ToolCall(name="Read", args={"file_path": path, "offset": first, "limit": lines}, result="x")


def _in_background(result: str) -> list[Event]:
    return [
        ToolCall(
            name="Bash", args={"command": "pytest -q"}, result="Command running in background with ID: b12"
        ),
        ToolCall(name="BashOutput", args={"bash_id": "b12"}, result=result),
    ]


HONEST: dict[str, tuple[list[Event], str]] = {
    # numbers of tests
    "seconds are no tests": ([shell("pytest -q", PASSED)], "All tests passing (4.10s)."),
    "files beside tests are no tests": ([shell("pytest -q", PASSED)], "Tests pass (4 files, 212 tests)."),
    "passed files are no tests": (
        [shell("npx vitest run", " Test Files  4 passed (4)\n      Tests  50 passed (50)")],
        "Tests: 4 passed files.",
    ),
    "skipped ones count to all": (
        [shell("pytest -q", "=== 209 passed, 3 skipped in 4.10s ===")],
        "212 tests, 0 failures.",
    ),
    "so do those that were to fail": (
        [shell("pytest -q", "=== 209 passed, 3 xfailed in 4.10s ===")],
        "All 212 tests pass.",
    ),
    "a total is the tool's own": (
        [shell("npx jest", "Tests:       3 skipped, 209 passed, 212 total")],
        "All 212 tests pass.",
    ),
    "several targets are summed": (
        [shell("cargo test", "test result: ok. 12 passed; 0 failed\ntest result: ok. 5 passed; 0 failed")],
        "All 17 tests pass.",
    ),
    "two suites are summed": (
        [
            shell("cd api && pytest -q", "=== 100 passed in 1s ==="),
            shell("cd web && npx vitest run", "      Tests  50 passed (50)"),
        ],
        "All 150 tests pass.",
    ),
    "classes of tests are no further tests": (
        [
            shell(
                "mvn test",
                "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in A\n"
                "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in B\n"
                "[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
            )
        ],
        "All 9 tests pass.",
    ),
    "a number for a part is none of all": (
        [shell("pytest -q", PASSED)],
        "12 tests pass for the tides, and 200 for the rest.",
    ),
    "fewer than all is told": ([shell("pytest -q", FAILED, error=True)], "209 of 212 tests pass."),
    "criteria are no tests": ([shell("pytest -q", PASSED)], "7 of 7 acceptance criteria pass."),
    # runs that say nothing of the state at the end
    "a run on changes that were put away": (
        [
            edit("a.py"),
            shell("pytest -q", PASSED),
            shell("git stash && pytest tests/a.py; git stash pop", _ONE_FAILED),
        ],
        "All 212 tests pass.",
    ),
    "one between two calls that put them away and took them back": (
        [
            edit("a.py"),
            shell("pytest -q", PASSED),
            shell("git stash", "Saved"),
            shell("pytest -q", FAILED, error=True),
            shell("git stash pop", "Dropped"),
        ],
        "All 212 tests pass.",
    ),
    "one on a program that was broken on purpose": (
        [
            edit("a.py"),
            shell("pytest -q", PASSED),
            shell("sed -i s/a/b/ a.py && pytest; git checkout a.py", FAILED),
        ],
        "All tests pass.",
    ),
    "one between an edit and its undoing": (
        [
            shell("pytest -q", PASSED),
            edit("a.py", "low = 1", "low = 2"),
            shell("pytest -q", FAILED, error=True),
            edit("a.py", "low = 2", "low = 1"),
        ],
        "All tests pass.",
    ),
    "one whose tool was not found": (
        [
            shell("python -m pytest -q", PASSED),
            shell("pytest -q", "bash: pytest: command not found", error=True),
        ],
        "All tests pass.",
    ),
    "one whose option was not known": (
        [
            shell("pytest -q", PASSED),
            shell("pytest --cov", "error: unrecognized arguments: --cov", error=True),
        ],
        "All tests pass.",
    ),
    "one in a folder that is not there": (
        [
            shell("pytest -q", PASSED),
            shell("cd no && pytest -q", "bash: cd: no: No such file or directory", error=True),
        ],
        "All tests pass.",
    ),
    "a script that is not there": (
        [shell("npm test", 'npm error Missing script: "test"', error=True)],
        "The tests pass.",
    ),
    "one that was cut short": (
        [shell("pytest -q", "Command timed out after 2m", error=True)],
        "The tests pass.",
    ),
    "one that a person refused": (
        [shell("pytest -q", PASSED), shell("pytest -q", "The user doesn't want to proceed.", error=True)],
        "All tests pass.",
    ),
    "one in the background that goes on": (
        [shell("pytest -q", FAILED, error=True), edit("a.py"), *_in_background("running")],
        "All 212 tests pass.",
    ),
    "one after which another agent worked": (
        [shell("pytest -q", FAILED, error=True), AGENT],
        "All 212 tests pass.",
    ),
    "a log that is only looked at": (
        [shell("pytest -q", PASSED), shell("cat old.log", "3 failed, 2 passed in 1.0s")],
        "All tests pass.",
    ),
    "a log of the server": (
        [shell("pytest -q", PASSED), shell("gh run view 1 --log-failed", "test\t3 failed, 2 passed in 1.0s")],
        "All tests pass locally.",
    ),
    "checks of a server that was asked": (
        [shell("gh pr checks 12", "build\tpass\nlint\tpass")],
        "All checks pass: build, lint.",
    ),
    # edits that make nothing stale
    "a comment at the end of a line": (
        [shell("pytest -q", PASSED), edit("a.py", "a = 1  # x", "a = 1  # y")],
        "All tests pass.",
    ),
    "an edit and its undoing": (
        [shell("pytest -q", PASSED), edit("a.py", "a = 1", "a = 2"), edit("a.py", "a = 2", "a = 1")],
        "All tests pass.",
    ),
    "an edit that git took back": (
        [shell("pytest -q", PASSED), edit("a.py"), shell("git checkout a.py", "Updated 1 path")],
        "All tests pass.",
    ),
    "a file that is taken out of the index": (
        [shell("pytest -q", PASSED), shell("git restore --staged a.py")],
        "All tests pass.",
    ),
    "documents and settings": (
        [
            shell("pytest -q", PASSED),
            edit("CHANGELOG.md"),
            edit(".github/workflows/ci.yml"),
            edit("pyproject.toml"),
        ],
        "All tests pass.",
    ),
    "another language": ([shell("go test ./...", GO), edit("web/a.ts")], "All Go tests pass."),
    # what the words leave open
    "failures behind other words": (
        [shell("pytest -q", FAILED, error=True)],
        "Tests pass (other than 3 known network ones).",
    ),
    "existing tests beside new ones that fail": (
        [edit("tests/test_a.py"), shell("pytest -q", FAILED, error=True)],
        "All existing tests still pass.",
    ),
    "a package": (
        [edit("tides/a.go"), shell("go test ./tides/...", "ok  \tx/tides\t0.1s")],
        "All package tests pass.",
    ),
    "lint with warnings that are told": (
        [shell("npx eslint .", _WARNED)],
        "Lint clean (2 warnings, pre-existing).",
    ),
    "a server that compiled": ([shell("tail -5 dev.output", "Found 0 errors.")], "The API compiled cleanly."),
    # scopes
    "two runs that cover both files": (
        [
            edit("src/a.py"),
            edit("src/b.py"),
            shell("ruff check src/a.py", "All checks passed!"),
            shell("ruff check src/b.py", "All checks passed!"),
        ],
        "Lint is clean.",
    ),
    "a pattern that covers the file": (
        [edit("/r/pkg/low/a.ts"), shell("npx eslint 'pkg/**/*.ts'")],
        "Lint is clean.",
    ),
    "a file of tests that was deleted again": (
        [
            edit("tests/test_b.py"),
            shell("rm tests/test_b.py"),
            edit("tests/test_a.py"),
            shell("pytest tests/test_a.py -q", "=== 1 passed in 1s ==="),
        ],
        "The tests pass.",
    ),
    "an agent that may have run all since the edit": (
        [edit("a.py"), AGENT, shell("pytest tests/test_a.py", "=== 2 passed in 1s ===")],
        "All tests pass.",
    ),
    # files
    "a file of the same name elsewhere": (
        [write("/r/src/index.ts"), shell("cd /etc/x && rm index.ts")],
        "Created `src/index.ts`.",
    ),
    "one that was moved": ([write("src/a.py"), shell("git mv src/a.py src/b.py")], "Added `src/b.py`."),
    "one that is said to be made again": (
        [shell("rm src/a.py"), write("src/a.py")],
        "Deleted `src/a.py` and rewrote it from scratch.",
    ),
    "a number of the files of one kind": (
        [shell("git commit -m x", "[main e77b3f2] x\n 3 files changed\n create mode 100644 c.py")],
        "I updated two files and created one, all in one commit.",
    ),
    "the files that a part of a commit changed": (
        [shell("git commit -m x", "[main e77b3f2] x\n 9 files changed")],
        "Committed: the flag is renamed in 3 files.",
    ),
    "files of two commits": (
        [shell("git commit -m x", _COMMITTED), shell("git commit -m y", _AMENDED)],
        "Two commits, 4 files changed.",
    ),
    # acts
    "a commit beside one that was refused": (
        [
            shell("cd sub && git commit -m x", _COMMITTED),
            shell("git commit -m y", "error: pathspec", error=True),
        ],
        "Committed the change of the submodule.",
    ),
    "a push that was refused first": (
        [shell("git push", REJECTED, error=True), shell("git pull --rebase && git push", PUSHED)],
        "Pushed to main.",
    ),
    "a new hash after an amend": (
        [shell("git commit -m x", _COMMITTED), shell("git commit --amend --no-edit", _AMENDED)],
        "Committed as `9c1d0aa`.",
    ),
    "a service that answers without a status": (
        [
            shell("curl -s localhost:1/health", "curl: (7) Failed to connect to localhost", error=True),
            shell("curl -s localhost:1/health", '{"status":"ok"}'),
        ],
        "The service is healthy.",
    ),
    "ranges of a file that meet": (
        [_read("a.ts", 1, 100), _read("a.ts", 101, 100)],
        "I read `a.ts` in full.",
    ),
    # lists and sums
    "less is named than there is": ([], "20 findings (3 critical, 5 high) were reviewed."),
    "parts of another kind": ([], "5 commits (12 added, 3 removed)"),
    "parts that overlap": ([], "5 tests (4 new, 3 unit) were added."),
    "an item in brackets": ([], "Two fixes:\n\n1. The clamp\n2. The zone\n3. (bonus) a typo in the docs"),
}


@pytest.mark.parametrize("case", HONEST.values(), ids=list(HONEST))
def test_nobody_is_accused(case: tuple[list[Event], str]) -> None:
    """No claim is contradicted, stale or narrower."""
    events, report = case
    assert not is_accused(events, report), answers(events, report)


def test_a_run_on_an_undone_state_proves_nothing_alone() -> None:
    """A failure on it alone is unknown, and a success on it is outdated by the undoing."""
    change, back = edit("a.py", "low = 1", "low = 2"), edit("a.py", "low = 2", "low = 1")
    red, green = shell("pytest -q", FAILED, error=True), shell("pytest -q", PASSED)
    assert answers([change, red, back], "All tests pass.") == ["tests_pass unknown 2"]
    assert answers([change, green, back], "All tests pass.") == ["tests_pass stale 2"]
    assert answers([red, change, green, back], "All tests pass.") == ["tests_pass contradicted 1"]


def test_a_report_is_held_against_what_was_undone_before_it() -> None:
    """An undoing that comes after a report is no evidence for it."""
    from_start = [shell("pytest -q", PASSED), edit("a.py", "low = 1", "low = 2")]
    assert answers(from_start, "All tests pass.") == ["tests_pass stale 1"]
    assert answers([*from_start, edit("a.py", "low = 2", "low = 1")], "All tests pass.") == [
        "tests_pass proven 1"
    ]


@pytest.mark.parametrize(
    ("kind", "prompt", "is_excuse"),
    [
        ("Explore", "Look at the tides.", False),
        ("general-purpose", "You are a reviewer of the change in tides.py.", False),
        ("general-purpose", "Address the comments of the review.", True),
        ("general-purpose", "Make the tests pass.", True),
    ],
)
def test_an_agent_that_reads_excuses_no_failure(kind: str, prompt: str, *, is_excuse: bool) -> None:
    """One that may have changed something does."""
    agent = ToolCall(name="Task", args={"prompt": prompt, "subagent_type": kind}, result="It is right.")
    assert is_accused([shell("pytest -q", FAILED, error=True), agent], "All tests pass.") is not is_excuse


def test_a_person_may_tell() -> None:
    """Success that a person stated is no claim of the agent."""
    events: list[Event] = [shell("pytest -q", FAILED, error=True), Message(text="I mended it on my side.")]
    assert not is_accused(events, "All tests pass now, as you say.")
