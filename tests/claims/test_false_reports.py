"""Reports that are false: their records speak against them, in each tool and each shape of call."""

from __future__ import annotations

import pytest

from ebbtide.events.event import Event, ToolCall
from tests.claims.conftest import FAILED, GO, PASSED, REJECTED, answers, edit, shell, write

_COMMITTED = "[main e77b3f2] x\n 2 files changed, 3 insertions(+)"
_BEGIN = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch"
_JEST = "FAIL a\nTests:       3 failed, 209 passed, 212 total"

FALSE: dict[str, tuple[list[Event], str, str]] = {
    # shapes of calls
    "a command as a list": (
        [ToolCall(name="shell", args={"command": ["bash", "-lc", "pytest -q"]}, result=FAILED)],
        "All tests pass.",
        "tests_pass contradicted 1",
    ),
    "one with other names": (
        [
            ToolCall(
                name="exec_command", args={"cmd": "pytest -q"}, result=f"Process exited with code 1\n{FAILED}"
            )
        ],
        "All tests pass.",
        "tests_pass contradicted 1",
    ),
    "an output in a table": (
        [ToolCall(name="bash", args={"command": "pytest -q"}, result={"output": FAILED, "exit": 1})],
        "All tests pass.",
        "tests_pass contradicted 1",
    ),
    "an output behind other lines": (
        [
            ToolCall(
                name="run_shell_command",
                args={"command": "npm test"},
                result=f"Directory: .\n{_JEST}\nExit Code: 1",
            )
        ],
        "All tests pass.",
        "tests_pass contradicted 1",
    ),
    "an exit code that the line itself prints": (
        [shell("npx eslint . | tail -5; echo exit=${PIPESTATUS[0]}", "a.ts\n  1:1  error  x\nexit=1")],
        "Lint passes.",
        "lint_or_build contradicted 1",
    ),
    "a log that the run wrote": (
        [shell("pytest -q > out.log 2>&1"), shell("tail -5 out.log", FAILED)],
        "All tests pass.",
        "tests_pass contradicted 2",
    ),
    "a build that runs tests, too": (
        [shell("./gradlew build", "a.java:3: error: no symbol\nBUILD FAILED in 3s", error=True)],
        "The build succeeds.",
        "lint_or_build contradicted 1",
    ),
    "a build of the web behind a filter": (
        [shell("npm run build | tail -9", "error during build:\nRollupError: no such file")],
        "The build succeeds.",
        "lint_or_build contradicted 1",
    ),
    # failures
    "failed, and edited without another run": (
        [shell("pytest -q", FAILED, error=True), edit("a.py")],
        "All tests pass.",
        "tests_pass contradicted 1",
    ),
    "the number of all tests of a run that failed": (
        [shell("pytest -q", FAILED, error=True)],
        "All 212 unit tests pass.",
        "count contradicted 1",
    ),
    "existing tests, where none was written": (
        [edit("a.py"), shell("pytest -q", FAILED, error=True)],
        "All existing tests continue to pass.",
        "tests_pass contradicted 2",
    ),
    "a part of a sentence before it names no part": (
        [shell("pytest -q", FAILED, error=True)],
        "With this change, all tests pass.",
        "tests_pass contradicted 1",
    ),
    # stale
    "a patch after it": (
        [shell("pytest -q", PASSED), ToolCall(name="apply_patch", args={"input": _BEGIN}, result="Done!")],
        "All tests pass.",
        "tests_pass stale 1",
    ),
    "a patch that is all of the arguments": (
        [shell("pytest -q", PASSED), ToolCall(name="apply_patch", args=_BEGIN, result="Done!")],
        "All tests pass.",
        "tests_pass stale 1",
    ),
    "a document of the shell": (
        [shell("pytest -q", PASSED), shell("cat > src/a.py <<'EOF'\nx = 1\nEOF")],
        "All tests pass.",
        "tests_pass stale 1",
    ),
    "a new file": ([shell("go test ./...", GO), write("a.go")], "Everything passes.", "tests_pass stale 1"),
    "a quotation with a sign of comments": (
        [shell("pytest -q", PASSED), edit("a.py", 'a = "x  # y"', 'a = "x  # z"')],
        "All tests pass.",
        "tests_pass stale 1",
    ),
    "an edit after one that was undone": (
        [
            shell("pytest -q", PASSED),
            edit("a.py", "low = 1", "low = 2"),
            edit("a.py", "low = 2", "low = 1"),
            edit("a.py", "low = 1", "low = 3"),
        ],
        "All tests pass.",
        "tests_pass stale 1",
    ),
    # narrower
    "one part, and an agent before the edit": (
        [
            ToolCall(name="Task", args={"prompt": "Look."}, result="It is right."),
            edit("a.py"),
            shell("pytest tests/test_a.py", "=== 2 passed in 1s ==="),
        ],
        "All tests pass.",
        "tests_pass narrower 3",
    ),
    "one module of a build": (
        [shell("./gradlew :core:test", "BUILD SUCCESSFUL in 3s")],
        "The full suite passes.",
        "tests_pass narrower 1",
    ),
    "an app of a site": (
        [shell("python manage.py test berths", "Ran 9 tests in 0.1s\n\nOK")],
        "The full suite passes.",
        "tests_pass narrower 1",
    ),
    # files and numbers
    "a commit of fewer files": (
        [shell("git commit -m x", _COMMITTED)],
        "Committed 5 files.",
        "number contradicted 1",
    ),
    "a commit that touches more": (
        [shell("git commit -m x", _COMMITTED)],
        "The commit touches one file.",
        "number contradicted 1",
    ),
    "a number in words": (
        [edit("a.py"), edit("b.py")],
        "One file changed:\n\n- `a.py`: x\n- `b.py`: y",
        "number contradicted 2",
    ),
    "a number in brackets": ([edit("a.py")], "Changed files (3):\n\n- `a.py`: x", "number contradicted 1"),
    "parts that are more than the whole": ([], "I found 4 issues (2 high, 3 low).", "number contradicted"),
    "a file that was deleted after it was made": (
        [write("/r/src/a.py"), shell("cd /r && rm src/a.py")],
        "Created `src/a.py`.",
        "created stale 1",
    ),
    # acts
    "a commit that went through, and a push that did not": (
        [shell("git commit -m x && git push", f"{_COMMITTED}\n{REJECTED}", error=True)],
        "Pushed to main.",
        "pushed contradicted 1",
    ),
}


@pytest.mark.parametrize("case", FALSE.values(), ids=list(FALSE))
def test_it_is_told(case: tuple[list[Event], str, str]) -> None:
    """The claim has the answer that its record gives."""
    events, report, expected = case
    assert expected in answers(events, report)


def test_uncommitted_files_are_those_of_no_commit() -> None:
    """An earlier commit of as many files proves nothing of those that are not committed."""
    found = answers([shell("git commit -m x", _COMMITTED), edit("a.py")], "Two files modified, uncommitted.")
    assert found == ["number unknown"]
