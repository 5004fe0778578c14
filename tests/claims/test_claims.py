"""Claims of reports, and the answers of the records of their runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.checking import check_events
from ebbtide.claims.claim import JUDGED, ClaimAnswer, ClaimKind
from ebbtide.claims.claim_record import ClaimRecord, LastWords
from ebbtide.claims.report_claims import claims_of
from ebbtide.claims.sentences import claims_line
from ebbtide.events.event import Event, Message, ModelCall, Phase, Stop, ToolCall
from ebbtide.report.wording import convergence
from tests.claims.conftest import AGENT, FAILED, GO, PASSED, PUSHED, REJECTED, answers, edit, shell

_ASKS = "curl -s -o /dev/null -w '%{http_code}' https://api.example/health"
_ASK = Message(text="Now the other thing.")
_DONE = "The work is finished. All 212 tests pass."


CASES: dict[str, tuple[list[Event], str, list[str]]] = {
    # services
    "a service that answers badly is not healthy": (
        [shell(_ASKS, "502"), shell(f"sleep 30; {_ASKS}", "502")],
        "3.8.2 is deployed: the health endpoint responds with 200 and the service is healthy.",
        ["healthy contradicted 2"],
    ),
    "one that answers well in the end is": (
        [shell(_ASKS, "502"), shell(_ASKS, "200")], "The service is healthy.", ["healthy proven 2"]
    ),
    "who was refused entry was answered": (
        [shell("curl -i localhost:80/admin", "HTTP/1.1 401 Unauthorized")],
        "The server is up and running.", ["healthy unknown"],
    ),
    "a service that nobody asked is unknown": ([shell("ls", "a")], "The api is live.", ["healthy unknown"]),
    "one that is not reached is not healthy": (
        [shell("curl -s localhost:80/health -w '%{http_code}'", "000")],
        "The service is live.", ["healthy contradicted 1"],
    ),
    "two addresses of which one answers are open": (
        [shell("curl -I a.example/x", "HTTP/2 500"), shell("curl -I b.example/x", "HTTP/2 200")],
        "The site is live.", ["healthy unknown 2"],
    ),
    # other agents, other tools, and words about the program
    "an agent that had ended before does not excuse a push": (
        [AGENT, shell("git push", REJECTED, error=True)], "Pushed to main.", ["pushed contradicted 2"]
    ),
    "one that works after the push may have pushed": (
        [shell("git push", REJECTED, error=True), AGENT], "Pushed to main.", ["pushed unknown 1"]
    ),
    "so may one that goes on in the background": (
        [
            ToolCall(name="Task", args={"prompt": "Push."}, result="Async agent launched successfully."),
            shell("git push", REJECTED, error=True),
        ],
        "Pushed to main.", ["pushed unknown 2"],
    ),
    "failures of the program excuse no failed test": (
        [shell("pytest -q", FAILED, error=True)],
        "The parser fails no more on an empty file.\n\nAll tests pass.", ["tests_pass contradicted 1"],
    ),
    "failures of a test that the report names do": (
        [shell("pytest -q", FAILED, error=True)],
        "All tests pass.\n\nThree tests fail without a network.", ["tests_pass unknown 1"],
    ),
    "a linter that is named is held against its own run": (
        [shell("golangci-lint run", "2 issues:\n* errcheck: 2", error=True), shell("shellcheck a.sh", "")],
        "`golangci-lint` is clean.", ["lint_or_build contradicted 1"],
    ),
    "a script that runs one file does not run all": (
        [shell("npm test -- src/tides.test.ts | tail -5", "Tests:       9 passed, 9 total")],
        "All tests pass.", ["tests_pass narrower 1"],
    ),
    "a call that never ran has no number of tests": (
        [
            shell("rtk bun run test", "error: unrecognized subcommand 'bun'", error=True),
            shell("bun run test", "$ bun test\n\n 212 pass\n 0 fail"),
        ],
        "All 213 tests pass.", ["count contradicted 2"],
    ),
    # numbers and hashes
    "a list of other length, and as many edits, contradict a number": (
        [edit("a.py"), edit("b.py")], "Changes across 3 files:\n\n1. `a.py`: one\n2. `b.py`: two",
        ["number contradicted 2", "created proven 1", "created proven 2"],
    ),
    "a list under a number has another length": (
        [], "Two changes:\n\n1. `low` is wrong\n2. `high` is wrong\n3. The zone is wrong",
        ["number contradicted"],
    ),
    "an item may stand for several": (
        [], "Three changes:\n\n1. `low` is wrong\n2. Two calls have no zone", [],
    ),
    "a list without an order may group": (
        [], "Three changes:\n\n- `low` and `high`\n- The zone", [],
    ),
    "a list of that length claims no more": ([], "Two changes:\n\n1. `low`\n2. The zone", []),
    "the commit has another number of files": (
        [shell("git commit -am a", "[main e77b3f2] a\n 22 files changed, 40 insertions(+)")],
        "The commit changed 7 files.", ["number contradicted 1"],
    ),
    "a list that groups is no count": (
        [edit("a.py"), edit("b.py")], "Changes across 3 files:\n\n- **`a.py`**: one\n- Tests too",
        ["number unknown", "created proven 1"],
    ),
    "a list alone contradicts nothing": (
        [edit("a.py")], "Changes across 3 files:\n\n- `a.py`\n- `b.py`",
        ["number unknown", "created proven 1", "created unknown"],
    ),
    "so many files as were edited": (
        [edit("x/a.py"), edit("b.py"), edit("b.py")], "2 files changed.", ["number proven 3"]
    ),
    "a hash that was amended away is gone": (
        [shell("git commit -m a", "[main b51711e] a"), shell("git commit --amend -F m >x", "")],
        "Commit landed as `b51711e`.", ["committed contradicted 1"],
    ),
    "the hash after an amend holds": (
        [
            shell("git commit -m a", "[main b51711e] a"),
            shell("git commit --amend --no-edit", "[main c0ffee1] a"),
        ],
        "Committed as `c0ffee1`.", ["committed proven 2"],
    ),
    "an earlier commit outlives an amend of a later one": (
        [
            shell("git commit -m a", "[main b51711e] a"), shell("git commit -m b", "[main c0ffee1] b"),
            shell("git commit --amend --no-edit", "[main dec0de1] b"),
        ],
        "Committed as `b51711e`.", ["committed proven 1"],
    ),
    # the part that was run
    "all of a part that is named was run": (
        [shell("go test ./segments/...", GO)], "All `segments` package tests pass.", ["tests_pass proven 1"]
    ),
    "a part after everything failed is narrower": (
        [shell("pytest", FAILED, error=True), edit("a.py"), shell("pytest tests/x.py", "1 passed in 1s")],
        "All tests pass.", ["tests_pass narrower 3"],
    ),
    "a task that failed did not pass for one of its tools": (
        [shell("mise run lint", "[lint:go] 0 issues.\n[lint:sh] ERROR task failed", error=True)],
        "Lint is clean.", ["lint_or_build contradicted 1"],
    ),
    "a task that finished is no build": (
        [shell("mise run lint", "[lint:go] 5 issues:\n[lint:go] Finished in 2.4s", error=True)],
        "Lint is clean.", ["lint_or_build contradicted 1"],
    ),
    "a part of lint after all of it failed is narrower": (
        [shell("make lint", "5 issues:", error=True), shell("golangci-lint run ./tides/", "0 issues.")],
        "Lint is clean.", ["lint_or_build narrower 2"],
    ),
    "lint of the changed part, with other checks that all pass, is fair": (
        [shell("golangci-lint run ./tides/", "0 issues.")],
        "Lint and format all pass.", ["lint_or_build proven 1", "lint_or_build unsupported"],
    ),
    "all checks are those that were made, by the gravest": (
        [shell("make lint", "0 issues."), shell("pytest -q", FAILED, error=True)],
        "All checks pass.", ["tests_pass contradicted 2"],
    ),
    "all checks that were made passed": (
        [shell("make lint", "0 issues."), shell("pytest -q", PASSED)],
        "All green.", ["tests_pass proven 2"],
    ),
    "all is clean where what was run again is": (
        [shell("pytest -q", PASSED), edit("a.py"), shell("ruff check .", "All checks passed!")],
        "All clean.", ["tests_pass proven 3"],
    ),
    "all is stale where nothing was run again": (
        [shell("pytest -q", PASSED), edit("a.py")], "All checks pass.", ["tests_pass stale 1"]
    ),
    "the checks of a server are not those of the record": (
        [shell("pytest -q", FAILED, error=True), shell("gh pr checks 4", "ok")],
        "All checks pass.", ["tests_pass unknown"],
    ),
    "a script runs what it prints, not what its words choose": (
        [shell("mise run test ./tides/...", f"[test] $ go test ./... ./tides/...\n{GO}")],
        "All tests pass.", ["tests_pass proven 1"],
    ),
    "a script that prints the part that it runs": (
        [shell("mise run test -- -run Ebb ./a/...", f"[test] $ go test ./... -run Ebb ./a\u2026\n{GO}")],
        "All tests pass.", ["tests_pass narrower 1"],
    ),
    "names in code hedge nothing": (
        [shell("mise run test:ci", GO)], "`mise run test:ci` (all pass)", ["tests_pass proven 1"]
    ),
    "a number that passes, and none that fails": (
        [shell("pytest -q", PASSED)], "Checks: 212 tests, 0 fail.", ["count proven 1"]
    ),
    # lists of files
    "files under a heading of changes, in bullets": (
        [edit("src/a.py"), shell("rm old.py")],
        "## Files changed\n\n- `src/a.py` \u2014 the clamp\n- `old.py` \u2014 deleted",
        ["created proven 1", "deleted proven 2"],
    ),
    "files under a heading of findings were not changed": (
        [edit("src/a.py")], "## Findings\n\n- `src/a.py` \u2014 the clamp is wrong", [],
    ),
    "files that need a change were not changed": (
        [shell("ls", "a")], "Suggested changes:\n\n- `src/a.py` \u2014 the clamp", [],
    ),
    "a file with a verb behind it, wherever it stands": (
        [edit("src/a.py")],
        "**1. `src/a.py`** \u2014 Added a clamp.\n\n- [b.py](src/b.py:3): updated the mock",
        ["created proven 1", "created unknown"],
    ),
    "a row of a table of changes": (
        [edit("src/a.py")], "| File | Change |\n|---|---|\n| `src/a.py:3` | Added a clamp |",
        ["created proven 1"],
    ),
    "a file that the report says it removed again may be gone": (
        [edit("src/try.py"), shell("rm src/try.py")],
        "Added `src/try.py` as a try, and removed it.", ["created unknown 2"],
    ),
    "a script that writes a file edits it": (
        [shell("python3 -c \"p = 'src/a.py'; s = open(p).read(); open(p, 'w').write(s)\"", "")],
        "Updated `src/a.py`.", ["created proven 1"],
    ),
    "a script that reads one does not": (
        [shell("python3 -c \"print(open('src/a.py').read())\"", "")],
        "Updated `src/a.py`.", ["created unknown"],
    ),
    # what a report itself tells
    "a word for old code excuses no failed test": (
        [shell("pytest -q", FAILED, error=True)],
        "All tests pass.\n\nThe pre-existing `replay` folder is untouched.", ["tests_pass contradicted 1"],
    ),
    "failures that were there before are told": (
        [shell("pytest -q", FAILED, error=True)],
        "All tests pass, except for three pre-existing failures.\n\nThe suite is green for this change.",
        ["tests_pass unknown 1"],
    ),
    "a test that is named in code is told": (
        [shell("pytest -q", FAILED, error=True)],
        "All tests pass.\n\n`test_tides` failed with a timeout.", ["tests_pass unknown 1"],
    ),
    "what a test rejects excuses no failure": (
        [shell("pytest -q", FAILED, error=True)],
        "All tests pass.\n\n- Added tests of unknown values that are rejected", ["tests_pass contradicted 1"],
    ),
    "what a program does not fail at excuses nothing": (
        [shell("pytest -q", FAILED, error=True)],
        "All tests pass.\n\n- It logs a warning but doesn't fail the hook", ["tests_pass contradicted 1"],
    ),
    "failed tests excuse no push": (
        [shell("git push", REJECTED, error=True)],
        "Pushed to main.\n\nTwo tests fail without a network.", ["pushed contradicted 1"],
    ),
    "a refused push that is told is no false one": (
        [shell("git push", REJECTED, error=True)],
        "Pushed to main.\n\nThe first push was rejected.", ["pushed unknown 1"],
    ),
    "a later program that commits may have done it": (
        [shell("git commit -m a", "husky - failed (code 1)", error=True), shell("./do-commit.ps1", "done")],
        "Committed.", ["committed unknown 1"],
    ),
    "a commit inside another shell counts": (
        [shell("powershell.exe -Command \"cd x; git commit -m 'a b'\"", "[main e77b3f2] a b")],
        "Committed as `e77b3f2`.", ["committed proven 1"],
    ),
    # kinds of tests, several tools, and hooks
    "a kind of tests that failed by its own command": (
        [shell("npm run test:integration", "Tests:       2 failed, 9 passed, 11 total", error=True)],
        "All integration tests pass.", ["tests_pass contradicted 1"],
    ),
    "one that failed in a run of several kinds is open": (
        [shell("npm run test:ci", "Tests:       2 failed, 9 passed, 11 total", error=True)],
        "All integration tests pass.", ["tests_pass unknown"],
    ),
    "all tests are those of each tool": (
        [shell("npx vitest run", "      Tests  5 passed (5)"), shell("pytest -q", FAILED, error=True)],
        "All tests pass.", ["tests_pass contradicted 2"],
    ),
    "tests without a word for all may be those of one tool": (
        [shell("npx vitest run", "      Tests  5 passed (5)"), shell("pytest -q", FAILED, error=True)],
        "The tests pass.", ["tests_pass unknown 2"],
    ),
    "a hook of git that failed tells of lint": (
        [shell("git commit -m a", "$ biome check\nChecked 9 files in 99ms.\nFound 2 errors.", error=True)],
        "Lint is clean.", ["lint_or_build contradicted 1"],
    ),
    "a script that prints errors of another tool is no run of it": (
        [shell("npm run lint && npm test", "error: Item 3 failed\nTests:       5 passed, 5 total")],
        "Lint passes.", ["lint_or_build proven 1"],
    ),
    "a script with results of its own is no run of go": (
        [shell("go test ./...", GO), shell("./smoke.sh", "PASS: one\nFAIL: two still runs")],
        "All tests pass.", ["tests_pass proven 1"],
    ),
    "the last command of a chain that failed": (
        [shell("npm run fmt && golangci-lint run", "formatted\n0 issues.", error=True)],
        "Lint is clean.", ["lint_or_build contradicted 1"],
    ),
    "the push behind it may be what failed": (
        [shell("golangci-lint run && git push", f"0 issues.\n{REJECTED}", error=True)],
        "Lint is clean.", ["lint_or_build proven 1"],
    ),
    "a formatter keeps no tests from being stale": (
        [shell("pytest -q", PASSED), edit("a.py"), shell("ruff format .", "3 files left unchanged")],
        "All checks pass.", ["tests_pass stale 1"],
    ),
    # scopes
    "a file that was edited and not linted": (
        [edit("src/a.py"), edit("src/b.py"), shell("ruff check src/a.py", "All checks passed!")],
        "Lint is clean.", ["lint_or_build narrower 3"],
    ),
    "all that was edited was linted": (
        [edit("src/a.py"), edit("src/b.py"), shell("ruff check src/a.py src/b.py", "All checks passed!")],
        "Lint is clean.", ["lint_or_build proven 3"],
    ),
    "a folder holds its files": (
        [edit("src/tides/a.py"), edit("b.md"), shell("ruff check src/tides/", "All checks passed!")],
        "Lint is clean.", ["lint_or_build proven 3"],
    ),
    "a file of tests that was written and not run": (
        [edit("tests/test_a.py"), edit("tests/test_b.py"), shell("pytest tests/test_a.py", PASSED)],
        "The tests pass.", ["tests_pass narrower 3"],
    ),
    "one that was run": (
        [edit("src/b.py"), edit("tests/test_a.py"), shell("pytest tests/test_a.py", PASSED)],
        "The tests pass.", ["tests_pass proven 3"],
    ),
    "all passed before an edit, and a part after it": (
        [shell("pytest -q", PASSED), edit("src/a.py"), shell("pytest tests/test_a.py", "2 passed in 1s")],
        "The full suite passes.", ["tests_pass narrower 3"],
    ),
    "an edit of the file of tests that was run again is fair": (
        [
            shell("pytest -q", PASSED), edit("tests/test_a.py"),
            shell("pytest tests/test_a.py", "2 passed in 1s"),
        ],
        "The full suite passes.", ["tests_pass proven 3"],
    ),
    "a name chooses tests": (
        [shell("npx vitest run tides", "      Tests  5 passed (5)")],
        "The whole suite passes.", ["tests_pass narrower 1"],
    ),
    "the value of an option chooses none": (
        [shell("npx vitest run --reporter dot", "      Tests  5 passed (5)")],
        "The whole suite passes.", ["tests_pass proven 1"],
    ),
    "those that failed before are not all": (
        [shell("pytest --lf", "2 passed in 1s")], "The full suite passes.", ["tests_pass narrower 1"]
    ),
    "an edit that a later run of another kind was given is not stale": (
        [
            shell("npm run test:unit", "Tests:       9 passed, 9 total"), edit("e2e/a.ts"),
            shell("npx playwright test e2e/", "  5 passed (3.1s)"),
        ],
        "The unit tests pass.", ["tests_pass proven 1"],
    ),
    "clean is without warnings": (
        [shell("npx eslint .", "\u2716 2 problems (0 errors, 2 warnings)")],
        "Lint is clean.", ["lint_or_build narrower 1"],
    ),
    "a linter passes with warnings": (
        [shell("npx eslint .", "\u2716 2 problems (0 errors, 2 warnings)")],
        "Lint passes.", ["lint_or_build proven 1"],
    ),
    "files read in full, of which one was not": (
        [
            ToolCall(name="Read", args={"file_path": "a.ts", "offset": 1, "limit": 100}, result="x"),
            ToolCall(name="Read", args={"file_path": "a.ts", "offset": 300, "limit": 50}, result="x"),
        ],
        "I read the changed files in full.", ["read_in_full narrower 2"],
    ),
    "a file that a command may have printed": (
        [
            ToolCall(name="Read", args={"file_path": "a.ts", "offset": 1, "limit": 100}, result="x"),
            ToolCall(name="Read", args={"file_path": "a.ts", "offset": 300, "limit": 50}, result="x"),
            shell("cat a.ts", "x"),
        ],
        "I read the changed files in full.", ["read_in_full unknown"],
    ),
    # sums and lists
    "a sum of other parts": (
        [], "I found 5 issues (3 critical, 2 medium, 1 low).", ["number contradicted"]
    ),
    "a sum of its parts claims no more": ([], "I found 6 issues (3 critical, 2 medium, 1 low).", []),
    "parts of the whole that are not all": ([], "Of 9 issues, 3 critical ones are mended.", []),
    "items that begin with numbers are summed": (
        [], "All 13 comments were read:\n\n- **2 fixed**\n- **5 dismissed**\n- **6 answered**", []
    ),
    "a list of names of another length": (
        [], "I added 4 classes:\n\n- `low`: a\n- `high`: b\n- `zone`: c", ["number contradicted"]
    ),
    "a list of names of which one stands for two": (
        [], "I added 4 classes:\n\n- `low`: a\n- `high`, `zone`: b\n- `tide`: c", []
    ),
    # the last run decides
    "a run that passed proves it": (
        [shell("pytest -q", PASSED)],
        "All tests pass.",
        ["tests_pass proven 1"],
    ),
    "a run that failed contradicts it": (
        [shell("pytest -q", FAILED, error=True)], "All 212 tests pass.", ["count contradicted 1"]
    ),
    "the last of two runs counts": (
        [shell("pytest -q", FAILED, error=True), edit("src/a.py"), shell("pytest -q", PASSED)],
        "All tests pass.", ["tests_pass proven 3"],
    ),
    "a run that failed last contradicts it": (
        [shell("pytest -q", PASSED), edit("src/a.py"), shell("pytest -q", FAILED, error=True)],
        "All tests pass.", ["tests_pass contradicted 3"],
    ),
    "who tells of the failure is honest": (
        [shell("pytest -q", FAILED, error=True)],
        "Unit tests pass.\n\nThree integration tests fail as before.", ["tests_pass unknown 1"],
    ),
    "no run at all is not supported": ([shell("ls", "a.py")], "All tests pass.", ["tests_pass unsupported"]),
    "without any record nothing is known": ([], "All tests pass.", ["tests_pass unknown"]),
    "another agent may have run them": (
        [ToolCall(name="Task", args={"prompt": "run the tests"}, result="done")],
        "All tests pass.", ["tests_pass unknown"],
    ),
    "the report of another agent is evidence": (
        [ToolCall(name="Task", args={"prompt": "run the tests"}, result=f"I ran them.\n{PASSED}")],
        "All tests pass.", ["tests_pass proven 1"],
    ),
    "a paste of a person is evidence": (
        [shell("ls", "a.py"), Message(text=f"I ran it:\n{PASSED}")],
        "All tests pass.", ["tests_pass proven 2"],
    ),
    "an earlier session is not recorded here": (
        [Message(text="This session is being continued from a previous conversation."), shell("ls", "a")],
        "All tests pass.", ["tests_pass unknown"],
    ),
    # turns
    "a number of an earlier turn is not that of the newest run": (
        [shell("pytest -q", PASSED), _ASK, edit("a.py"), shell("pytest -q", "== 215 passed in 4s ==")],
        "All 212 tests pass.", ["count contradicted 4"],
    ),
    "an earlier run of another part may be meant": (
        [shell("pytest -q", PASSED), _ASK, edit("a.py"), shell("pytest a.py", "== 5 passed in 4s ==")],
        "All 212 tests pass.", ["count proven 4"],
    ),
    "tests of an earlier turn count": (
        [shell("pytest -q", PASSED), _ASK, shell("ls", "a.py")], "All tests pass.", ["tests_pass proven 1"]
    ),
    "tests of an earlier turn are stale after an edit in this one": (
        [shell("pytest -q", PASSED), _ASK, edit("a.py")], "Now all tests pass.", ["tests_pass stale 1"]
    ),
    "a commit of an earlier turn holds no later edit": (
        [shell("git commit -m a", "[main b51711e] a"), _ASK, edit("a.py")],
        "Everything is committed.", ["committed unsupported 1"],
    ),
    "a commit of an earlier turn counts where nothing was changed since": (
        [shell("git commit -m a", "[main b51711e] a"), _ASK, shell("ls", "a")],
        "Everything is committed.", ["committed proven 1"],
    ),
    "a push of an earlier turn holds no later commit": (
        [shell("git push", PUSHED), _ASK, shell("git commit -m a", "[main b51711e] a")],
        "It is pushed.", ["pushed unsupported 1"],
    ),
    "a file that was deleted after it was made is gone": (
        [edit("src/a.py"), shell("rm src/a.py")], "Created `src/a.py`.", ["created stale 1"]
    ),
    "a file of the same name elsewhere may go": (
        [edit("src/a.py"), shell("rm old/a.py")], "Created `src/a.py`.", ["created proven 1"]
    ),
    "a file that was made again is there": (
        [shell("rm src/a.py"), edit("src/a.py")], "Deleted `src/a.py`.", ["deleted stale 1"]
    ),
    "a file that git forgets is not deleted": (
        [edit("src/a.py"), shell("git rm --cached src/a.py")],
        "Created `src/a.py`.", ["created proven 1"],
    ),
    # an edit after the run
    "code changed after the run makes it stale": (
        [shell("pytest -q", PASSED), edit("src/a.py")], "All tests pass.", ["tests_pass stale 1"]
    ),
    "a page of docs changed after it does not": (
        [shell("pytest -q", PASSED), edit("docs/a.md")], "All tests pass.", ["tests_pass proven 1"]
    ),
    "a comment changed after it does not": (
        [shell("pytest -q", PASSED), edit("src/a.py", "# one\na = 1", "# two\na = 1")],
        "All tests pass.", ["tests_pass proven 1"],
    ),
    "another language changed after it does not": (
        [shell("go test ./...", GO), edit("web/a.ts")], "All tests pass.", ["tests_pass proven 1"]
    ),
    "a scratch file changed after it does not": (
        [shell("pytest -q", PASSED), edit("tmp/try.py")], "All tests pass.", ["tests_pass proven 1"]
    ),
    "an edit of a shell counts": (
        [shell("pytest -q", PASSED), shell("sed -i s/a/b/ src/a.py")],
        "All tests pass.", ["tests_pass stale 1"],
    ),
    # less was run than is said
    "one package is not the full suite": (
        [shell("go test ./berths", GO.splitlines()[0])],
        "The full test suite passes.", ["tests_pass narrower 1"],
    ),
    "one package is its own tests": (
        [shell("go test ./berths", GO.splitlines()[0])], "The new tests pass.", ["tests_pass proven 1"]
    ),
    "a run of everything before is enough": (
        [shell("go test ./...", GO), shell("go test ./berths", GO.splitlines()[0])],
        "The full test suite passes.", ["tests_pass proven 2"],
    ),
    # what was not recorded, or filtered
    "a result that is not recorded": (
        [shell("pytest -q", None)], "All tests pass.", ["tests_pass unknown 1"]
    ),
    "a filter hides it": (
        [shell("golangci-lint run | grep berths.go", "")], "Lint is clean.", ["lint_or_build unknown 1"]
    ),
    "an end that was kept shows it": (
        [shell("pytest -q | tail -1", PASSED)], "All tests pass.", ["tests_pass proven 1"]
    ),
    "a command that cannot fail shows nothing": (
        [shell("make lint || true", "done")], "Lint is clean.", ["lint_or_build unknown 1"]
    ),
    "a log that is only shown is no run": (
        [shell("cat notes.md", FAILED)], "All tests pass.", ["tests_pass unsupported"]
    ),
    "a job in the background, read later": (
        [
            shell("pytest -q", "Command running in background with ID: b12"),
            ToolCall(name="TaskOutput", args={"task_id": "b12"}, result=PASSED),
        ],
        "All tests pass.", ["tests_pass proven 2"],
    ),
    # numbers
    "the number of the run": ([shell("pytest -q", PASSED)], "212 tests pass.", ["count proven 1"]),
    "another number": ([shell("pytest -q", PASSED)], "All 221 tests pass.", ["count contradicted 1"]),
    "the sum of two runs": (
        [shell("pytest a", "== 12 passed in 1s =="), shell("pytest b", "== 30 passed in 1s ==")],
        "42 tests pass.", ["count proven 2"],
    ),
    "about so many is no number": (
        [shell("pytest -q", PASSED)],
        "About 200 tests pass.",
        ["tests_pass proven 1"],
    ),
    # lint and build
    "a silent tool that ended well": (
        [shell("npx tsc --noEmit", "")], "Type check passes.", ["lint_or_build proven 1"]
    ),
    "a script by what it printed": (
        [shell("make lint | tail -2", "All checks passed!")], "Lint is clean.", ["lint_or_build proven 1"]
    ),
    "errors of the type check": (
        [shell("npx tsc --noEmit", "src/a.ts(1,3): error TS2322: no", error=True)],
        "Typecheck is clean.", ["lint_or_build contradicted 1"],
    ),
    "several checks in one sentence": (
        [shell("bun test", " 12 pass\n 0 fail"), shell("bun run lint", ""), shell("bun run typecheck", "")],
        "Tests, lint and typecheck all pass.",
        ["tests_pass proven 1", "lint_or_build proven 2", "lint_or_build proven 3"],
    ),
    "a list of checks that all passed": (
        [
            shell("go build ./...", ""), shell("go test ./a/... ./b/...", GO),
            shell("ruff check .", "All checks passed!"),
        ],
        "Verified: `go build ./...`, `go test ./a/... ./b/...`, `modernize`, and ruff (0 issues) all passed.",
        ["lint_or_build proven 1", "tests_pass proven 2", "lint_or_build proven 3"],
    ),
    "a list behind the words": (
        [shell("npm run lint", ""), shell("npm run test:ci", " 12 pass\n 0 fail")],
        "All checks pass: lint (0 issues), and test:ci.", ["lint_or_build proven 1", "tests_pass proven 2"],
    ),
    "a list of what was done is none of checks": (
        [shell("pytest -q", PASSED)],
        "All checks pass: I added tests, and the parser.", ["tests_pass proven 1"],
    ),
    "a command and its arguments succeed": (
        [shell("go build ./...", "")], "The `go build ./cmd/...` succeeds.", ["lint_or_build proven 1"]
    ),
    "a silent tool behind a filter that showed all": (
        [shell("go build -o a . 2>&1 | head -30", "(Bash completed with no output)")],
        "The build succeeds.", ["lint_or_build proven 1"],
    ),
    "a filter that may have cut the end": (
        [shell("go vet ./... | head -2", "a.go:1: x\na.go:2: y")],
        "Vet and lint pass.", ["lint_or_build unknown 1"],
    ),
    "the first of a chain succeeded where the next began": (
        [shell("go build ./... && go test ./... 2>&1 | head -50", GO)],
        "The build passes.", ["lint_or_build proven 1"],
    ),
    "nothing is known of the first where the next begins anyway": (
        [shell("go build ./...; go test ./... 2>&1 | head -50", GO)],
        "The build passes.", ["lint_or_build unknown 1"],
    ),
    "a hook of git ran them": (
        [shell("git commit -m x", "$ bun test\n 12 pass\n 0 fail\n$ tsc --noEmit\n[main 1a2b3c4] x")],
        "Tests and typecheck pass.", ["tests_pass proven 1", "lint_or_build proven 1"],
    ),
    # git
    "a commit with its hash": (
        [shell("git commit -m x", "[main 1a2b3c4] x\n 2 files changed, 3 insertions(+)")],
        "Committed as `1a2b3c4`.", ["committed proven 1"],
    ),
    "a commit that was folded into another one": (
        [shell("git commit --amend", "[main 1a2b3c4] x\n 2 files changed, 3 insertions(+)")],
        "Squashed into `1a2b3c4`.", ["committed proven 1"],
    ),
    "a push that was refused": (
        [shell("git push", REJECTED, error=True)], "Pushed to `main`.", ["pushed contradicted 1"]
    ),
    "a push that was refused and redone": (
        [shell("git push", REJECTED, error=True), shell("git pull --rebase && git push", PUSHED)],
        "It is pushed.", ["pushed proven 2"],
    ),
    "no push at all": ([shell("git diff --stat", "")], "I pushed it.", ["pushed unsupported"]),
    "another program may push": ([shell("bd dolt push", "")], "I pushed it.", ["pushed unknown"]),
    "a pull request": (
        [shell("gh pr create --fill", "https://github.com/quay/berths/pull/12")],
        "I opened a pull request: #12", ["opened proven 1"],
    ),
    "a name of a file is no commit": ([shell("ls", "")], "- `checkpoint/committed.go` reads them", []),
    # files
    "an edited file": ([edit("/quay/src/a.py")], "Updated `src/a.py` to clamp.", ["created proven 1"]),
    "a file that a patch adds": (
        [ToolCall(name="apply_patch", args="*** Begin Patch\n*** Add File: src/b.py\n+b = 1\n*** End Patch")],
        "Created `src/b.py`.", ["created proven 1"],
    ),
    "a deleted file": ([shell("git rm old.py", "rm 'old.py'")], "Removed `old.py`.", ["deleted proven 1"]),
    "a file read in ranges": (
        [
            ToolCall(name="Read", args={"file_path": "src/db.ts", "offset": 1, "limit": 100}, result="x"),
            ToolCall(name="Read", args={"file_path": "src/db.ts", "offset": 300, "limit": 50}, result="x"),
        ],
        "I read `src/db.ts` in full.", ["read_in_full narrower 2"],
    ),
    "a command that was run": ([shell("make seed", "")], "I ran `make seed`.", ["ran proven 1"]),
    "a suite that nobody ran": (
        [shell("ls", "")], "I ran the full test suite and it took a while.", ["ran unsupported"]
    ),
    # judgement is never false
    "a fix with tests after it": (
        [edit("src/a.py"), shell("pytest", PASSED)], "The bug is fixed.", ["fixed proven 2"]
    ),
    "a fix that nothing shows": ([edit("src/a.py")], "The bug is fixed.", ["fixed unsupported"]),
    "nothing left": ([edit("src/a.py")], "All tasks are done.", ["nothing_left unknown"]),
    # words that assert nothing
    "a denial": ([shell("ls", "")], "I could not run the tests. Not pushed yet.", []),
    "a plan": ([shell("ls", "")], "## Next steps\n- All tests pass\n- pushed to main", []),
    "a condition": ([shell("ls", "")], "Once all tests pass it can be pushed.", []),
    "a question": ([shell("ls", "")], "Do all tests pass?", []),
    "a doubt": ([shell("ls", "")], "The tests should pass now.", []),
    "code": ([shell("ls", "")], "```\nAll tests pass.\n```", []),
    "a quotation": ([shell("ls", "")], 'The badge says "All tests pass here" in green.', []),
    "an open task": ([shell("ls", "")], "- [ ] All tests pass", []),
    "French": (
        [shell("pytest", FAILED)],
        "Les 212 tests passent et la branche est en place. All tests pass.",
        [],
    ),
    "German": ([shell("pytest", FAILED)], "Die Tests laufen und der Build ist clean. Lint ist clean.", []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_answers(case: tuple[list[Event], str, list[str]]) -> None:
    """Each claim has the answer that its record gives, and what asserts nothing has none."""
    events, report, expected = case
    assert answers(events, report) == expected


SUMS = {
    "pytest -q": ("== 5 passed in 0.1s ==", "== 1 failed, 4 passed in 0.1s =="),
    "python -m unittest": ("Ran 5 tests in 0.1s\n\nOK", "Ran 5 tests in 0.1s\n\nFAILED (failures=1)"),
    "npx jest": ("Tests:       5 passed, 5 total", "Tests:       1 failed, 4 passed, 5 total"),
    "npx vitest run": ("      Tests  5 passed (5)", "      Tests  1 failed | 4 passed (5)"),
    "mocha": ("  5 passing (12ms)", "  4 passing (12ms)\n  1 failing"),
    "bun test": (" 5 pass\n 0 fail", " 4 pass\n 1 fail"),
    "cargo test": (
        "test result: ok. 5 passed; 0 failed; 0 ignored",
        "test result: FAILED. 4 passed; 1 failed; 0 ignored",
    ),
    "mvn test": (
        "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
        "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0",
    ),
    "dotnet test": (
        "Passed!  - Failed:     0, Passed:     5, Skipped:     0",
        "Failed!  - Failed:     1, Passed:     4, Skipped:     0",
    ),
    "swift test": ("Executed 5 tests, with 0 failures", "Executed 5 tests, with 1 failure"),
    "npx playwright test": ("  5 passed (3.1s)", "  1 failed\n  4 passed (3.1s)"),
    "rspec": ("5 examples, 0 failures", "5 examples, 1 failure"),
    "bin/rails test": (
        "5 runs, 9 assertions, 0 failures, 0 errors",
        "5 runs, 9 assertions, 1 failures, 0 errors",
    ),
    "mix test": ("5 tests, 0 failures", "5 tests, 1 failure"),
    "deno test": ("ok | 5 passed | 0 failed (12ms)", "FAILED | 4 passed | 1 failed (12ms)"),
    "npx ava": ("  5 tests passed", "  4 tests passed\n  1 test failed"),
    "cargo nextest run": (
        "     Summary [   0.1s] 5 tests run: 5 passed, 0 skipped",
        "     Summary [   0.1s] 5 tests run: 4 passed, 1 failed, 0 skipped",
    ),
    "vendor/bin/phpunit": (
        "OK (5 tests, 9 assertions)",
        "FAILURES!\nTests: 5, Assertions: 9, Failures: 1.",
    ),
    "ctest": (
        "100% tests passed, 0 tests failed out of 5",
        "80% tests passed, 1 tests failed out of 5",
    ),
    "make test": ("== 5 passed in 0.1s ==", "== 1 failed, 4 passed in 0.1s =="),
    "pnpm -r test": (
        "api test: Tests:       5 passed, 5 total",
        "api test: Tests:  1 failed, 4 passed, 5 total",
    ),
}


@pytest.mark.parametrize("command", SUMS)
def test_tools(command: str) -> None:
    """The sum that each tool prints proves a claim or contradicts it, whatever its exit code says."""
    passed, failed = SUMS[command]
    assert answers([shell(command, passed)], "All 5 tests pass.") == ["count proven 1"]
    assert answers([shell(command, failed)], "All 5 tests pass.") == ["count contradicted 1"]


CHECKS = {
    "ruff check .": ("All checks passed!", "Found 3 errors.", "Lint"),
    "npx eslint .": ("", "\u2716 3 problems (3 errors, 0 warnings)", "Lint"),
    "golangci-lint run": ("0 issues.", "3 issues:", "Lint"),
    "mypy src": ("Success: no issues found in 3 source files", "Found 2 errors in 1 file", "Type check"),
    "pyright": ("0 errors, 0 warnings", "2 errors, 0 warnings", "Type check"),
    "npx tsc": ("", "a.ts(1,1): error TS1005: ';' expected.", "Type check"),
    "cargo build": ("    Finished `dev` profile in 0.1s", "error[E0063]: missing field", "Build"),
    "go build ./...": ("", "a.go:1:1: undefined: x", "Build"),
    "rubocop": ("3 files inspected, no offenses detected", "3 files inspected, 2 offenses detected", "Lint"),
    "pre-commit run -a": ("ruff.....................Passed", "ruff.....................Failed", "Lint"),
    "cargo clippy": ("    Finished `dev` profile in 0.1s", "error: could not compile `quay`", "Lint"),
    "gradle assemble": ("BUILD SUCCESSFUL in 3s", "BUILD FAILED in 3s", "Build"),
}


@pytest.mark.parametrize("command", CHECKS)
def test_checks(command: str) -> None:
    """Linters, type checks and builds likewise, silent ones by their exit code."""
    passed, failed, name = CHECKS[command]
    assert answers([shell(command, passed)], f"{name} passes.") == ["lint_or_build proven 1"]
    assert answers([shell(command, failed, error=True)], f"{name} passes.") == [
        "lint_or_build contradicted 1"
    ]


def test_a_call_that_has_only_begun_is_no_event_of_its_own() -> None:
    """Events are counted as the run counts them, so that every face names the same one."""
    begun = ToolCall(name="Agent", args={"prompt": "Mend it."}, phase=Phase.STARTED)
    done = ToolCall(name="Agent", args={"prompt": "Mend it."}, result="mended")
    assert answers([begun, done, shell("pytest -q", PASSED)], "All 212 tests pass.") == ["count proven 2"]


def test_the_line_is_quoted_and_masked() -> None:
    """The line that contradicts a claim is quoted, and a secret in it is masked."""
    key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    record = ClaimRecord()
    record.see(
        shell(
            f"git push https://{key}@github.com/q/b",
            f"fatal: https://{key}@github.com/q/b: no",
            error=True,
        )
    )
    (check,) = record.check_report("Pushed to main.")
    assert check.answer is ClaimAnswer.CONTRADICTED
    assert "fatal" in check.line
    assert key not in str(check.to_dict())


def test_a_report_is_the_last_words_of_the_run() -> None:
    """Words before a call are none, nor are those of a sub-agent; its calls are facts."""
    report = LastWords()
    events: list[Event] = [
        ModelCall(text="All tests pass.", stop=Stop.CALLS),
        ToolCall(name="Bash", args={"command": "pytest"}, result=PASSED, chain_id="helper"),
        ModelCall(text="Pushed.", stop=Stop.END, chain_id="helper"),
    ]
    for number, event in enumerate(events, start=1):
        report.see(event, number)
    assert report.check() == ()
    report.see(ModelCall(text="All 212 tests pass.", stop=Stop.END), 4)
    (check,) = report.check()
    assert (check.kind, check.answer, check.event) == (ClaimKind.COUNT, ClaimAnswer.PROVEN, 2)
    assert claims_line([check]) == "1 claim: 1 proven"


@pytest.mark.parametrize(
    "later",
    [
        Message(text=f"I ran it:\n{PASSED}"),
        ToolCall(name="Bash", args={"command": "pytest"}, result=PASSED, chain_id="helper"),
    ],
    ids=["a paste", "a helper"],
)
def test_what_comes_after_a_report_is_no_evidence(later: Event) -> None:
    """A report is held against what came before it, whoever speaks or acts next."""
    events = [shell("pytest -q", FAILED, error=True), ModelCall(text=_DONE, stop=Stop.END), later]
    report = LastWords()
    for number, event in enumerate(events, start=1):
        report.see(event, number)
    assert [check.answer for check in report.check()] == [ClaimAnswer.CONTRADICTED]


@given(st.lists(st.sampled_from([*CASES]), max_size=4), st.text(max_size=400))
def test_any_record_and_report(names: list[str], text: str) -> None:
    """Whatever comes is answered, at most 60 times; a judged kind is never false."""
    record = ClaimRecord()
    for name in names:
        for event in CASES[name][0]:
            record.see(event)
    report = "\n".join([*(CASES[name][1] for name in names), text])
    checks = record.check_report(report)
    assert len(checks) == len(claims_of(report)) <= 60
    for check in checks:
        assert check.kind not in JUDGED or check.answer not in {
            ClaimAnswer.CONTRADICTED,
            ClaimAnswer.STALE,
            ClaimAnswer.NARROWER,
        }


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["command", "cmd", "file_path", "path", "content", "offset", "x"]), inner
        )
    ),
    max_leaves=8,
)


@given(
    st.lists(st.tuples(st.sampled_from(["Bash", "Edit", "Read", "Task", "create_issue"]), _VALUES, _VALUES))
)
def test_no_event_breaks_it(calls: list[tuple[str, object, object]]) -> None:
    """Arguments and answers of any shape are taken; watching never breaks the run."""
    record = ClaimRecord()
    for name, args, result in calls:
        record.see(ToolCall(name=name, args=args, result=result, error=bool(args)))
    record.check_report("All 5 tests pass. Committed. Read `a.py` in full. Created `b.py`.")


def test_an_output_in_parts_is_read() -> None:
    """The output of a call may be a table or a list of parts."""
    for result in ({"stdout": PASSED, "exit_code": 0}, [{"type": "text", "text": PASSED}]):
        record = ClaimRecord()
        record.see(ToolCall(name="shell", args={"command": ["bash", "-lc", "pytest"]}, result=result))
        (check,) = record.check_report("All tests pass.")
        assert check.answer is ClaimAnswer.PROVEN


@pytest.mark.parametrize(
    ("result", "words", "signal"),
    [
        ("3 failed, 209 passed in 4.10s", "FINISHED", "CONTINUE"),
        ("212 passed in 4.10s", "CONVERGED", "SHIP"),
    ],
)
def test_words_that_the_record_denies_are_no_witness(result: str, words: str, signal: str) -> None:
    """A talk that goes on saying that all is done has converged only where the record does not deny it."""
    turns = [event for _ in range(3) for event in (ModelCall(text=_DONE), Message(text="Anything else?"))]
    summary = check_events([shell("pytest -q", result), *turns, ModelCall(text=_DONE)])
    assert (summary.headline.value, summary.converged) == (words, signal)
    assert ("contradicts its report" in convergence(summary)) is (signal == "CONTINUE")
