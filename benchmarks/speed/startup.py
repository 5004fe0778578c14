"""What starting costs: processor time of whole processes, from the start of Python to its end.

    python -m benchmarks.speed.startup [--beside CHECKOUT] [--runs N]

User and system time together, since a shared machine makes the clock on the wall useless; medians. Every
round runs each process once, so that a slow moment is slow for all, and bare Python in the same round is the
yardstick. `--beside` measures another checkout in the same rounds, with the interpreter of its `.venv`. The
modules are compiled once before, as an installer does it, whatever the environment says about that.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, setup, write_result

RUN = "examples/runs/stuck.jsonl"  # 25 events
CONVERSATION = "examples/conversations/design-review.json"
PROCESSES = {
    "python -c pass": ("-c", "pass"),
    "python -I -c pass": ("-I", "-c", "pass"),
    "import ebbtide": ("-c", "import ebbtide"),
    "from ebbtide import Supervisor": ("-c", "from ebbtide import Supervisor"),
    "ebbtide --version": ("-m", "ebbtide", "--version"),
    "ebbtide stop FILE": ("-m", "ebbtide", "stop", CONVERSATION),
    "ebbtide score FILE": ("-m", "ebbtide", "score", CONVERSATION),
    "ebbtide check FILE": ("-m", "ebbtide", "check", RUN),
    "ebbtide check --json FILE": ("-m", "ebbtide", "check", "--json", RUN),
    "ebbtide --help": ("-m", "ebbtide", "--help"),
    "ebbtide decisions --help": ("-m", "ebbtide", "decisions", "--help"),
}
BARE = "python -c pass"


def processor_ms(command: list[str], environment: dict[str, str]) -> float:
    """User and system time of a process and of what it started and waited for, in milliseconds."""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return 1_000 * (usage.ru_utime + usage.ru_stime)


def interpreters(beside: Path | None) -> dict[str, str]:
    """The interpreter of each checkout."""
    pythons = {"here": sys.executable}
    if beside is not None:
        pythons["beside"] = str(beside.resolve() / ".venv" / "bin" / "python")
    return pythons


def measure(pythons: dict[str, str], runs: int) -> dict[str, dict[str, float]]:
    """The median of each process in each checkout, in milliseconds of processor time."""
    times: dict[tuple[str, str], list[float]] = {(place, name): [] for place in pythons for name in PROCESSES}
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": cache}
        for number in range(runs + 1):
            for (place, name), measured in times.items():
                taken = processor_ms([pythons[place], *PROCESSES[name]], environment)
                if number:  # the first round compiles
                    measured.append(taken)
    return {
        place: {name: round(statistics.median(times[place, name]), 1) for name in PROCESSES}
        for place in pythons
    }


def main() -> None:
    """Time every process and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="another checkout with a .venv")
    parser.add_argument("--runs", type=int, default=15, help="processes of each kind")
    options = parser.parse_args()
    medians = measure(interpreters(options.beside), options.runs)
    for name in PROCESSES:
        columns = [
            f"{values[name]:7.1f} ms {values[name] / values[BARE]:5.1f} x bare" for values in medians.values()
        ]
        print(f"{name:<32} {'   '.join(columns)}")
    result: dict[str, Any] = {"setup": setup(), "runs": options.runs, "processor_ms": medians["here"]}
    if "beside" in medians:
        result["beside_processor_ms"] = medians["beside"]
    write_result("speed-startup", result)


if __name__ == "__main__":
    main()
