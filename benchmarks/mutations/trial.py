"""Trials: the tests of one room against a copy of the project in which one place was changed."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.measure import ROOT
from benchmarks.mutations.rooms import SOURCE, Point

_MEMORY = 6 << 30  # bytes: a loop that grows must not take the machine with it
_OPTIONS = ("-q", "-p", "no:cacheprovider", "--tb=no", "--hypothesis-profile=few")
_FINISHED = {0, 1}  # exit codes of pytest: all passed, or some failed
_UNNOTICED = {0, 5}  # exit codes of pytest: all passed, or there are no tests
_FIRST_FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Outcome(StrEnum):
    """What became of a mutation."""

    NOTICED = "noticed"
    TIMED_OUT = "timed out"  # noticed too, but by the clock
    SURVIVED = "survived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What the tests said of one mutation.

    Args:
        outcome: Whether a test failed.
        seconds: How long the tests ran.
        test: The first test that failed, or the last words of pytest; None where all passed or time ran out.
    """

    outcome: Outcome
    seconds: float
    test: str | None


#: A point that no test reaches.
UNREACHED = Trial(outcome=Outcome.SURVIVED, seconds=0.0, test=None)


class Workbench:
    """A copy of the project, in which one source at a time is changed.

    Args:
        folder: Where the copy is made; must not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        git = shutil.which("git") or "git"
        listing = subprocess.run(
            [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        )
        for name in filter(None, listing.stdout.split("\0")):
            if (ROOT / name).is_file():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)
        # By their hash: a change within one second that keeps the length would otherwise go unseen.
        compile_all = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(SOURCE), "tests"]
        subprocess.run([sys.executable, *compile_all], cwd=folder, check=True)

    def run_all(self, plugin: str, workers: int) -> None:
        """Runs all tests, several at a time, with a plugin; some may fail.

        Args:
            plugin: The name of its module.
            workers: Tests at a time.

        Raises:
            RuntimeError: The run did not come to its end.
        """
        with self._pytest(["-p", plugin, "-n", str(workers)]) as process:
            output, _ = process.communicate()
        if process.returncode not in _FINISHED:
            raise RuntimeError(f"pytest ended with {process.returncode}: {output[-200:]}")

    def run(self, tests: list[str], limit_s: float) -> Trial:
        """Runs tests on the copy as it is.

        Args:
            tests: Tests, files and folders, from the root of the project.
            limit_s: Seconds after which they are ended.
        """
        start = time.monotonic()
        with self._pytest(["-x", "-n", "0", *tests]) as process:
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
            try:
                output, _ = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                return Trial(outcome=Outcome.TIMED_OUT, seconds=limit_s, test=None)
        seconds = round(time.monotonic() - start, 1)
        if process.returncode in _UNNOTICED:
            return Trial(outcome=Outcome.SURVIVED, seconds=seconds, test=None)
        failure = _FIRST_FAILURE.search(output)
        test = failure[1] if failure else output[-200:]
        return Trial(outcome=Outcome.NOTICED, seconds=seconds, test=test)

    @contextmanager
    def _pytest(self, options: list[str]) -> Iterator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *_OPTIONS, *options],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):  # what the tests started ends with them
                os.killpg(process.pid, signal.SIGKILL)

    def run_mutated(self, point: Point, tests: list[str], limit_s: float) -> Trial:
        """Run tests on a copy with one change, and take the change back."""
        module = self.folder / point.module
        module.write_text(point.mutated, encoding="utf-8")
        try:
            return self.run(tests, limit_s)
        finally:
            module.write_text(point.source, encoding="utf-8")
