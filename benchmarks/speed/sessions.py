"""What `ebbtide check` without a trace costs: fifty sessions of Claude Code in a home of their own.

    python -m benchmarks.speed.sessions [--data DIR] [--sessions N] [--runs N]

The sessions are those under `runs/claude_code`, unpacked, one after the other and again from the first until
there are enough; all of them are new. Of whole processes: their processor time, children included, and the
clock on the wall; medians. Beside them stand a home without sessions, one with 10,000 old sessions more, and
bare Python as the yardstick. The modules are compiled before, as an installer does it.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, add_data_option, data_folder, setup, write_result

OLD = 10_000
_VARIABLES = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "MSWEA_GLOBAL_CONFIG_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
_LINE = (
    b'{"type": "user", "message": {"role": "user", "content": "Hello"}, "sessionId": "old", "cwd": "/srv"}\n'
)


def write_sessions(home: Path, data: Path, count: int) -> float:
    """New sessions in a home; how many megabytes they are."""
    texts = [gzip.decompress(path.read_bytes()) for path in sorted((data / "runs/claude_code").glob("*.gz"))]
    texts = list(itertools.islice(itertools.cycle(filter(None, texts)), count))
    for number, text in enumerate(texts):
        path = home / f".claude/projects/project-{number % 5}/session-{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    return round(sum(map(len, texts)) / 1e6, 1)


def write_old_sessions(home: Path, count: int) -> None:
    """Sessions of last year."""
    then = time.time() - 365 * 86_400
    for number in range(count):
        path = home / f".claude/projects/project-{number % 100}/old-{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_LINE)
        os.utime(path, (then, then))


def seconds(arguments: tuple[str, ...], environment: dict[str, str]) -> tuple[float, float]:
    """Processor time of a process and of what it started and waited for, and the clock on the wall."""
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin


def main() -> None:
    """Time every process and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--sessions", type=int, default=50, help="new sessions")
    parser.add_argument("--runs", type=int, default=7, help="processes of each kind")
    options = parser.parse_args()
    data = data_folder(options.data)
    check = ("-m", "ebbtide", "check")
    with tempfile.TemporaryDirectory() as place:
        new, empty, many = (Path(place, name) for name in ("new", "empty", "many"))
        megabytes = write_sessions(new, data, options.sessions)
        empty.mkdir()
        shutil.copytree(new, many)
        write_old_sessions(many, OLD)
        kinds = {
            "python -c pass": (("-c", "pass"), empty),
            "no session": (check, empty),
            "new sessions": (check, new),
            "new sessions, one process": ((*check, "--jobs", "1"), new),
            "new sessions, a process a core": ((*check, "--jobs", str(os.cpu_count())), new),
            f"new sessions and {OLD:,} old ones": (check, many),
        }
        common = {name: value for name, value in os.environ.items() if name not in _VARIABLES}
        common |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(place, "cache"))}
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
        for number in range(options.runs + 1):
            for name, (arguments, home) in kinds.items():
                measured = seconds(arguments, {**common, "HOME": str(home)})
                if number:  # the first round compiles
                    times[name].append(measured)
    rows: dict[str, Any] = {}
    for name, pairs in times.items():
        cpu, wall = (round(statistics.median(column), 3) for column in zip(*pairs, strict=True))
        rows[name] = {"cpu_s": cpu, "wall_s": wall}
        print(f"{name:<36} {cpu:6.3f} s of processor, {wall:6.3f} s on the wall")
    result = {"setup": setup(), "sessions": options.sessions, "megabytes": megabytes, "runs": options.runs}
    write_result("speed-sessions", {**result, "processes": rows})


if __name__ == "__main__":
    main()
