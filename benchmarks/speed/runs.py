"""What the registry of runs costs beside its supervisors, and what many runs take.

    python -m benchmarks.speed.runs [--runs N]

`turn` is one call of `before_model` and one of `record`, with a run at hand: microseconds of the registry, of
a bare supervisor with the same calls, and the difference, by the processor time of the thread, in pairs of
blocks; the median pair counts. `many` are runs of 50 events each, one after the other, with room for 1,000 at
hand: the memory of the process, and what a run takes to be put away and brought back, for each store, in a
process of its own. Five hundred are brought back, and their verdicts compared with those of a supervisor that
never left.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import setup, write_result
from ebbtide.events.event import Event, ModelCall, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.runs.run_store import MemoryRunStore, RunStore, SQLiteRunStore
from ebbtide.supervision.runs.runs import Runs
from ebbtide.supervision.supervisor import Supervisor

_BLOCK = 200
_BLOCKS = 60
_TURNS = 25  # of a run: a call of the model, and one of a tool
_AT_HAND = 1000
_COMPARED = 500
_PART = 1 << 20
_LINES = (
    "import os",
    "def main() -> None:",
    "total = 0",
    "return total",
    "class Invoice:",
    "lines: list[Line]",
) * 2


def events(run: int, turn: int) -> tuple[Event, Event]:
    """A call of a model with its usage, and one of a tool; every tenth run repeats itself."""
    path = f"/src/{run}/{turn % (3 if run % 10 == 0 else 1000)}.py"
    ts = float(turn * 10)
    return (
        ModelCall(ts=ts, usage=Usage(model="m", input_tokens=4_000 + turn, output_tokens=90, cost_usd=0.02)),
        ToolCall(
            name="read",
            args={"path": path},
            result="".join(f"{line} of {path}\n" for line in _LINES),
            ts=ts + 3,
        ),
    )


def turn_us() -> dict[str, float]:
    """Microseconds of one turn: by the registry, by a bare supervisor, and the difference."""
    runs, bare = Runs(), Supervisor()

    def by_registry(call: Event) -> None:
        runs.before_model("a")
        runs.record("a", call)

    def by_supervisor(call: Event) -> None:
        bare.check_before_model(now=call.ts)
        bare.record(call)

    def cost(see: Callable[[Event], None], block: list[Event]) -> float:
        begin = time.thread_time()
        for call in block:
            see(call)
        return (time.thread_time() - begin) / len(block) * 1e6

    pairs = []
    gc.disable()
    for number in range(_BLOCKS):
        block = [events(1, turn)[1] for turn in range(number * _BLOCK, (number + 1) * _BLOCK)]
        pairs.append((cost(by_registry, block), cost(by_supervisor, block)))
        gc.collect()
    gc.enable()
    return {
        "registry_us": round(median(registry for registry, _ in pairs), 2),
        "supervisor_us": round(median(supervisor for _, supervisor in pairs), 2),
        "beside_us": round(median(registry - supervisor for registry, supervisor in pairs), 2),
    }


def many(count: int, kind: str, folder: Path) -> dict[str, Any]:
    """Many runs with one store: memory, time, and whether the verdicts are those of runs that never left."""
    store: RunStore = SQLiteRunStore(folder / "runs.db") if kind == "sqlite" else MemoryRunStore(most=10**9)
    runs = Runs(store=store, most=_AT_HAND)
    start = time.perf_counter()
    for number in range(count):
        run_id = f"run {number}"
        for turn in range(_TURNS):
            runs.before_model(run_id)
            for event in events(number, turn):
                runs.record(run_id, event)
        if number % 100 == 0 and sys.stderr.isatty():
            print(f"\r{kind}: {number:,} of {count:,}", end="", file=sys.stderr, flush=True)
    took = time.perf_counter() - start
    equal, back_ms = 0, []
    for number in range(0, count, max(count // _COMPARED, 1)):
        bare = Supervisor()
        for turn in range(_TURNS):
            bare.check_before_model()
            for event in events(number, turn):
                bare.record(event)
        begin = time.perf_counter()
        verdict = runs.before_model(f"run {number}").verdict
        back_ms.append((time.perf_counter() - begin) * 1e3)
        last = events(number, _TURNS)[1]
        equal += verdict == bare.check_before_model() and runs.record(f"run {number}", last) == bare.record(
            last
        )
    runs.close()
    return {
        "store": kind,
        "runs": count,
        "events_each": 2 * _TURNS,
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _PART),
        "us_an_event": round(took / (count * 2 * _TURNS) * 1e6, 1),
        "back_ms": round(median(back_ms), 2),
        "file_mb": round(sum(file.stat().st_size for file in folder.iterdir()) / _PART),
        "compared": len(back_ms),
        "equal": equal,
    }


def main() -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=int, default=100_000, help="runs of 50 events each, and a tenth of it for SQLite"
    )
    parser.add_argument("--store", choices=("memory", "sqlite"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.store:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(many(options.runs, options.store, Path(folder))))
        return
    turn = turn_us()
    print(
        f"a turn: {turn['registry_us']:.1f} us, of which the supervisor {turn['supervisor_us']:.1f}; "
        f"the registry {turn['beside_us']:.1f}"
    )
    rows = []
    for kind, count in (("memory", options.runs), ("sqlite", max(options.runs // 10, 1))):
        command = [sys.executable, "-m", "benchmarks.speed.runs", "--runs", str(count), "--store", kind]
        process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        row = json.loads(process.stdout)
        rows.append(row)
        print(
            f"\r{kind}: {row['runs']:,} runs of {row['events_each']} events: {row['peak_mb']} MB, "
            f"{row['us_an_event']} us an event with putting away, back in {row['back_ms']} ms; "
            f"{row['equal']} of {row['compared']} as if they had never left; file {row['file_mb']} MB"
        )
    write_result("speed-runs", {"setup": setup(), "turn": turn, "many": rows})


if __name__ == "__main__":
    main()
