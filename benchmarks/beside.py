"""Benchmarks of this checkout beside the same ones of another, in turn, so that a busy machine slows both.

    python -m benchmarks.beside DIR [--rounds N] speed.supervisor speed.guard=speed.containment

DIR is a checkout of another version with an environment of its own in `.venv`. Each benchmark runs in both,
one after the other, N times; where it has another name there, that stands behind the `=`. What follows `--`
goes to all of them. Every number of their results that both have is printed: the median here, the median
there, and the median of the ratios, run by run. The results of both checkouts are written as usual.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import setup, write_result

HERE = Path(__file__).parent.parent
_ASIDE = ("setup", "mix", "events", "rounds_read", "state_bytes")


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a result, each with its place; rows of a list go by their ``case`` or ``name``."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in _ASIDE:
                yield from numbers(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            name = item.get("case", item.get("name", index)) if isinstance(item, dict) else index
            yield from numbers(item, f"{path}.{name}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def run(folder: Path, python: str, module: str, options: list[str]) -> dict[str, float]:
    """The numbers of one run of a benchmark.

    Raises:
        SystemExit: It failed.
    """
    results = folder / "benchmarks" / "results"
    before = {path: path.stat().st_mtime_ns for path in results.glob("*.json")}
    done = subprocess.run(
        [python, "-m", f"benchmarks.{module}", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{module} in {folder} failed:\n{done.stderr}")
    written = [path for path in results.glob("*.json") if path.stat().st_mtime_ns != before.get(path)]
    if not written:
        raise SystemExit(f"{module} in {folder} wrote no result:\n{done.stdout}")
    return dict(numbers(json.loads(written[0].read_text(encoding="utf-8"))))


def main() -> None:
    """Run everything and write the result."""
    arguments, _, rest = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, metavar="DIR")
    parser.add_argument("benchmarks", nargs="+", metavar="BENCHMARK")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments.split())
    other = options.other.resolve()
    table: dict[str, dict[str, dict[str, float]]] = {}
    for name in options.benchmarks:
        ours, _, theirs = name.partition("=")
        pairs = []
        for _ in range(options.rounds):
            here = run(HERE, sys.executable, ours, rest.split())
            there = run(other, str(other / ".venv" / "bin" / "python"), theirs or ours, rest.split())
            pairs.append((here, there))
        table[ours] = rows = {}
        print(f"\n{ours:<44} {'here':>12} {'there':>12} {'ratio':>7}")
        for place in pairs[0][0]:
            both = [(here[place], there[place]) for here, there in pairs if place in here and place in there]
            if len(both) < len(pairs) or not all(there for _, there in both):
                continue
            rows[place] = {
                "here": round(median(here for here, _ in both), 4),
                "there": round(median(there for _, there in both), 4),
                "ratio": round(median(here / there for here, there in both), 3),
            }
            row = rows[place]
            print(f"{place:<44} {row['here']:>12,.2f} {row['there']:>12,.2f} {row['ratio']:>7.2f}")
    write_result("beside", {"setup": setup(), "rounds": options.rounds, "benchmarks": table})


if __name__ == "__main__":
    main()
