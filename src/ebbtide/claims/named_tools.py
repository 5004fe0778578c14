"""Test runs and commits by tools such as `run_tests` and `git_commit`, which take no command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ebbtide.claims.changes import ActFact, commit_of
from ebbtide.claims.check_runs import CheckRun, readable, shown_runs, stated_lines, test_counts
from ebbtide.claims.check_tools import Family

_TESTS: Final = re.compile(r"(?:^|.*[^a-z])(?:run|execute)_?(?:all_?|unit_?)?tests?", re.IGNORECASE)
_COMMIT: Final = re.compile(r"(?:^|.*[^a-z])git_?commit", re.IGNORECASE)
_LINE: Final = 200


def tests_by_tool(
    name: str, args: object, result: str | None, event: int, *, has_failed: bool
) -> list[CheckRun]:
    """Returns the test run that a call of a tool made; empty where its name is not that of such a tool.

    A call that failed without a count may not have run any test, so its outcome is unknown.
    """
    if _TESTS.fullmatch(name) is None:
        return []
    scope = " ".join(_texts(args))[:_LINE]
    output = readable(result or "")
    shown = shown_runs(stated_lines(output), event, is_firsthand=True)
    if any(run.family is Family.TESTS for run in shown):
        return shown
    counts = [(numbers, line) for line in output.splitlines() if (numbers := test_counts(line)) is not None]
    if not counts:
        return [CheckRun(event, name, Family.TESTS, None, name, scope=scope, command=name)]
    (passed, failed, left_out), line = counts[-1]
    is_known = failed > 0 or (passed > 0 and not has_failed)
    return [
        CheckRun(
            event,
            name,
            Family.TESTS,
            failed == 0 if is_known else None,
            line.strip()[:_LINE],
            passed,
            failed,
            scope,
            command=name,
            is_stated=True,
            left_out=left_out,
        )
    ]


def commit_by_tool(name: str, result: str | None, event: int, *, has_failed: bool) -> ActFact | None:
    """Returns the commit that a call of a tool made; None where its name is not that of such a tool."""
    if _COMMIT.fullmatch(name) is None:
        return None
    return commit_of(result, event, has_failed=has_failed, quiet=False)


def _texts(value: object) -> Iterator[str]:
    """Yields the texts among arguments, which choose a part of the tests."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
