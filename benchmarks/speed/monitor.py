"""What an event costs, in time and memory, however long the chain; and what it costs elsewhere.

    python -m benchmarks.speed.monitor [--data DIR] [--events N]

Streams are made by a seeded generator. Calls are made in blocks of a few hundred, and only the monitor's
part is timed, by the processor time of the thread: calls that were just made are what an agent hands over.
`flat` mixes six tools with one to three flat arguments, all calls new, answers of about fifty characters;
`text` has one text argument; `nested` has lists of objects; `known` draws from 400 calls; `stuck` repeats
one call. `recorded runs` are those of coding agents in data/runs, each with a fresh watcher: long answers,
messages and usage. There the median run is told, and the mean of all events.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.loop_peers import Watcher, installed, packages
from benchmarks.measure import add_data_option, data_folder, setup, write_result
from ebbtide import DegradedEventWarning, TranscriptError, open_trace
from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.events.event import Event, ToolCall
from ebbtide.supervision.supervisor import Supervisor

_BLOCK = 250

Make = Callable[[int], ToolCall]


def flat(number: int) -> ToolCall:
    tool = ("read_file", "grep", "bash", "edit", "list_dir", "fetch")[number % 6]
    args: dict[str, Any] = {
        "read_file": {"path": f"src/module_{number}.py"},
        "grep": {"pattern": f"def f{number}", "path": "src"},
        "bash": {"command": f"pytest tests/test_{number}.py -q"},
        "edit": {"path": f"src/m{number}.py", "old": f"return {number}", "new": f"return {number + 1}"},
        "list_dir": {"path": f"pkg/{number}", "depth": 2},
        "fetch": {"url": f"https://example.test/{number}"},
    }[tool]
    return ToolCall(
        name=tool, args=args, result=f"result {number}: ok, 12 lines of content were found", seq=number
    )


def text(number: int) -> ToolCall:
    command = f"pytest tests/test_{number}.py -q"
    return ToolCall(
        name="bash", args={"command": command}, result=f"{number} passed in 12 seconds, ok", seq=number
    )


def nested(number: int) -> ToolCall:
    edits = [{"old": f"x{number}", "new": "y"}, {"old": "z", "new": "w"}]
    args = {"path": f"a{number}.py", "edits": edits, "options": {"dry": False}}
    return ToolCall(name="edit", args=args, result=f"result {number}: ok", seq=number)


def known(number: int, chance: random.Random) -> ToolCall:
    pick = flat(chance.randrange(400))
    return ToolCall(name=pick.name, args=pick.args, result=pick.result, seq=number)


def stuck(number: int) -> ToolCall:
    return ToolCall(name="ls", args={"path": "."}, result="a.txt b.txt", seq=number)


def streams() -> dict[str, Make]:
    chance = random.Random(7)
    return {"text": text, "flat": flat, "nested": nested, "known": lambda n: known(n, chance), "stuck": stuck}


def cost_us(see: Callable[[ToolCall], object], make: Make, first: int, events: int) -> float:
    """Microseconds an event: the median block."""
    blocks = []
    gc.collect()
    gc.disable()
    for start in range(first, first + events, _BLOCK):
        calls = [make(number) for number in range(start, start + _BLOCK)]
        begin = time.thread_time()
        for call in calls:
            see(call)
        blocks.append((time.thread_time() - begin) / _BLOCK * 1e6)
    gc.enable()
    return round(median(blocks), 2)


def recorded_runs(data: Path) -> Iterator[list[Event]]:
    """The events of each run of data/runs that can be read."""
    for path in sorted((data / "runs").rglob("*.gz")):
        try:
            events = [event for event in open_trace(path) if isinstance(event, Event)]
        except TranscriptError:
            continue
        if events:
            yield events


def cost_of_runs_us(make_watcher: Callable[[], Watcher], runs: list[list[Event]]) -> dict[str, float]:
    """Microseconds an event: the median run, and the mean of all events."""
    costs, total = [], 0.0
    gc.collect()
    gc.disable()
    for events in runs:
        see = make_watcher()
        begin = time.thread_time()
        for event in events:
            see(event)
        taken = time.thread_time() - begin
        total += taken
        costs.append(taken / len(events) * 1e6)
    gc.enable()
    return {"median_run": round(median(costs), 2), "mean": round(total / sum(map(len, runs)) * 1e6, 2)}


def supervisor() -> Watcher:
    """The whole of a watch: loops, convergence and limits in one verdict."""
    run = Supervisor()
    return lambda event: run.record(event).ends


def memory_kb(make: Make, events: int) -> tuple[float, int]:
    """Memory of one monitor after `events`, and its size as bytes."""
    gc.collect()
    tracemalloc.start()
    monitor = LoopMonitor()
    for number in range(events):
        monitor.update(make(number))
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return round(held / 1000, 1), len(monitor.to_bytes())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--events", type=int, default=1_000_000, help="length of the longest chain")
    options = parser.parse_args()
    longest, data = options.events, data_folder(options.data)
    warnings.simplefilter("ignore", DegradedEventWarning)
    ours: dict[str, Any] = {}
    for name, make in streams().items():
        cost = cost_us(LoopMonitor().update, make, 0, 20_000)
        held, size = memory_kb(make, 5_000)
        ours[name] = {"us_an_event": cost, "memory_kb": held, "bytes": size}
        print(f"{name:8} {cost:6.2f} us an event, {held:6.1f} KB, {size} bytes")
    monitor = LoopMonitor()
    growth = {}
    for reached in (1_000, 10_000, 100_000, longest):
        seen = monitor.snapshot().chains[0].calls if growth else 0
        for number in range(seen, max(seen, reached - 1_000)):
            monitor.update(flat(number))
        seen = monitor.snapshot().chains[0].calls if monitor.snapshot().chains else 0
        growth[reached] = cost_us(monitor.update, flat, seen, 1_000)
        print(
            f"after {reached:9,} events: {growth[reached]:.2f} us an event, {len(monitor.to_bytes())} bytes"
        )
    peers = {}
    for name, make_watcher in installed().items():
        peers[name] = {count: cost_us(make_watcher(), flat, 0, count) for count in (1_000, 3_000)}
        costs = ", ".join(f"{cost:.2f} over {count:,} events" for count, cost in peers[name].items())
        print(f"{name:24} us an event: {costs}")
    runs = list(recorded_runs(data))
    on_runs = {}
    for name, make_watcher in {"supervisor": supervisor, **installed()}.items():
        on_runs[name] = cost_of_runs_us(make_watcher, runs)
        cost = on_runs[name]
        print(f"{name:24} us an event of recorded runs: {cost['median_run']:.2f} (mean {cost['mean']:.2f})")
    write_result(
        "speed-monitor",
        {
            "streams": ours,
            "growth_us": growth,
            "growth_bytes": len(monitor.to_bytes()),
            "peers_us": peers,
            "recorded_runs_us": {"runs": len(runs), "events": sum(map(len, runs)), **on_runs},
            "setup": setup(*packages()),
        },
    )


if __name__ == "__main__":
    main()
