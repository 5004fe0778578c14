"""Runs the kit of the adapters, an environment each: ``python -m conformance.run_environments``.

Environments are made below ``.venv-adapters`` and go when their checks are done; ``--keep`` keeps them. What
does not fit into ``--minutes``, or cannot be installed, is named. Exits 0 if no adapter that ran fails twice.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from pathlib import Path

from conformance.harness import ENVIRONMENTS

PROJECT = Path(__file__).parents[1]
PLACE = PROJECT / ".venv-adapters"
_TRIES = 2  # its runs have threads and clocks: what fails once on a busy machine is printed, and tried again
LONGEST_S = 600.0  #: of one installation, or of the checks of one adapter


def main() -> int:
    """Check adapters until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="adapters; by default all")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no adapter after so many minutes")
    parser.add_argument("--cost", action="store_true", help="measure also what an adapter costs")
    parser.add_argument("--keep", action="store_true", help="keep the environments")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in ENVIRONMENTS]
    if unknown:
        parser.error(f"{unknown[0]}: no such adapter; there are {', '.join(ENVIRONMENTS)}")
    end = time.monotonic() + 60 * options.minutes
    failures, passes, others = [], [], []
    for name in options.names or ENVIRONMENTS:
        if time.monotonic() > end:
            others.append(f"{name} (no time)")
            continue
        start = time.monotonic()
        python = new_environment(name, ENVIRONMENTS[name])
        if python is None:
            others.append(f"{name} (cannot be installed)")
        elif any(_passes(python, name) for _ in range(_TRIES)):
            passes.append(name)
            if options.cost:
                subprocess.run([python, "-m", "benchmarks.speed.adapters", name], cwd=PROJECT, check=False)
        else:
            failures.append(name)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
        if not options.keep:
            remove_environment(name)
    for label, names in (("pass", passes), ("fail", failures), ("left out", others)):
        print(f"{label}: {', '.join(names) or 'none'}")
    return 1 if failures else 0


def remove_environment(name: str) -> None:
    """Delete an environment."""
    shutil.rmtree(PLACE / name, ignore_errors=True)


def new_environment(name: str, requirements: Sequence[str]) -> str | None:
    """The interpreter of an environment with packages and this project; None where that cannot be had."""
    folder = PLACE / name
    venv.create(folder, with_pip=True, clear=True)
    python = str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    install = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--editable",
        str(PROJECT),
    ]
    try:
        subprocess.run([*install, *requirements], check=True, timeout=LONGEST_S)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None
    return python


def _passes(python: str, name: str) -> bool:
    """Whether every check passes; those that do not are printed."""
    command = [python, "-W", "ignore", "-m", "conformance", name]
    try:
        process = subprocess.run(
            command, cwd=PROJECT, timeout=LONGEST_S, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"{name}: no end after {LONGEST_S:.0f} s", file=sys.stderr)
        return False
    if process.returncode:
        print(process.stdout, process.stderr[-4_000:], sep="\n", file=sys.stderr)
    return process.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
