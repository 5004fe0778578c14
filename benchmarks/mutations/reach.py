"""The tests that reach a point, and the time that each takes: one run of all tests shows both.

In a copy of the project the function around each point writes down the test that calls it, in whatever
process. A point outside of functions, such as a default, is reached by the tests that stand nearest.
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutations.rooms import SOURCE, Point

#: Both the function that is called at a point, and the plugin of pytest that keeps the time of each test.
PLUGIN = """
import json, os

_FILE = {file!r}
_seen = set()


def hit(number):
    test = os.environ.get("PYTEST_CURRENT_TEST")
    if test is None or (number, test) in _seen:
        return
    _seen.add((number, test))
    write([number, test.rpartition(" ")[0]])


def write(row):
    file = os.open(_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, (json.dumps(row) + "\\n").encode())
    os.close(file)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.failed:
        write([report.nodeid, report.duration, report.passed])
"""
_MODULE = "ebbtide_reach"
_MOST = 150  # tests of one trial


@dataclass(frozen=True, slots=True)
class Reach:
    """Tests by the point that they reach, and the seconds of each test that passes.

    Args:
        tests: The tests, by the number of a point in the sample.
        seconds: The seconds of each test.
    """

    tests: Mapping[int, set[str]]
    seconds: Mapping[str, float]

    @classmethod
    def read(cls, path: Path) -> Reach:
        """Returns what one run of all tests wrote down; tests that failed are left out."""
        tests: dict[int, set[str]] = defaultdict(set)
        seconds: dict[str, float] = {}
        failed = set()
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if len(row) == 2:
                tests[row[0]].add(row[1])
            else:
                seconds[row[0]] = row[1]
                failed |= set() if row[2] else {row[0]}
        return cls(tests, {test: taken for test, taken in seconds.items() if test not in failed})

    def tests_of(self, number: int, point: Point, limit_s: float) -> tuple[list[str], float]:
        """Returns the tests of a trial, the nearest and the quickest first, and the seconds that they take.

        Args:
            number: The place of the point in the sample.
            point: The point.
            limit_s: Seconds that the tests may take together; the first is always among them.
        """
        reached = self.tests.get(number, set()) & self.seconds.keys()
        if not reached and _function_around(point) is None:
            reached = {test for test in self.seconds if _distance(point, test) < 2}
        chosen: list[str] = []
        taken = 0.0
        for test in sorted(reached, key=lambda test: (_distance(point, test), self.seconds[test], test)):
            if chosen and (taken + self.seconds[test] > limit_s or len(chosen) >= _MOST):
                continue
            chosen.append(test)
            taken += self.seconds[test]
        return chosen, taken


def instrument(folder: Path, sample: Iterable[Point], rows: Path) -> str:
    """Makes the functions of a copy write down who calls them.

    Args:
        folder: The copy of the project.
        sample: The points.
        rows: The file to which they write.

    Returns:
        The name of the plugin that keeps the time of each test.
    """
    Path(folder, "src", f"{_MODULE}.py").write_text(PLUGIN.format(file=str(rows)), encoding="utf-8")
    inserts: dict[Path, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for number, point in enumerate(sample):
        if (function := _function_around(point)) is not None:
            first = function.body[0]
            hit = f"{' ' * first.col_offset}import {_MODULE}; {_MODULE}.hit({number})"
            inserts[point.module][first.lineno].append(hit)
    for module, by_line in inserts.items():
        lines = Path(folder, module).read_text(encoding="utf-8").split("\n")
        for line in sorted(by_line, reverse=True):
            lines[line - 1 : line - 1] = by_line[line]
        Path(folder, module).write_text("\n".join(lines), encoding="utf-8")
    return _MODULE


def _function_around(point: Point) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Returns the innermost function around a point in which a line can be put in front of its code."""
    line, around = point.mutation.line, None
    for node in ast.walk(ast.parse(point.source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if body and body[0].lineno > node.lineno and body[0].lineno <= line <= (node.end_lineno or 0):
            around = type(node)(**{**vars(node), "body": body})
    return around


def _distance(point: Point, test: str) -> int:
    """Returns 0 for a test in the file that has the name of the module, 1 for one of its room, else 2."""
    path = Path(test.partition("::")[0])
    if path.stem == f"test_{point.module.stem}" or path == point.module:
        return 0
    is_near = path.is_relative_to(Path("tests", point.room)) or path.is_relative_to(SOURCE / point.room)
    return 1 if is_near or path.stem == f"test_{point.room}" else 2
