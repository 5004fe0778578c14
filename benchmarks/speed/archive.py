"""What an archive costs: the fixed part of a short run, all cores beside one, rows beside files, and memory.

It is a part of `benchmarks.speed.fleet`. Runs are made by a seeded generator: calls of tools of which a tenth
are known already, each behind a call of a model that tells tokens and a cost (`usage`), or a thought as well
(`words`).

- `fixed`: processor time of a run of 20 to 60 events, least of many rounds, as a line through five lengths:
  what it takes beside its events, and for each of them; from events at hand and from a file, with its row.
- `pool`: an archive of runs of mixed length (4 to 2,000 events, log-normal), by the clock on the wall with
  one process and with two; `processor` is what that comes to where nobody else wants the cores, and
  `machine` what two processes bring at this time that share nothing.
- `rows`: the same runs as rows of one Parquet file in no order, beside the files, in processor time of the
  whole command; and SQLite.
- `memory`: the most that the command and the largest of its processes took at once (on Linux), for an
  archive, for one of four times as many runs, and for one with a long run in it.
"""

from __future__ import annotations

import json
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.speed.check import machine
from ebbtide.batch.archive.checking_runs import check_run
from ebbtide.batch.results.archived_run import EventsRun, FileRun
from ebbtide.batch.results.run_result import result_batch
from ebbtide.events.event import Event
from ebbtide.traces.reading import open_trace

_START = 1_767_225_600.0
_LENGTHS = (20, 30, 40, 50, 60)
_ROUNDS = 25
_TIMES = 6
_BATCH = 64
_WORDS = ("invoice", "table", "index", "handler", "worker", "queue", "cache", "report", "schema", "test")


def wires(seed: int, count: int, *, words: bool = False, usage: bool = True) -> Iterator[dict[str, Any]]:
    """The events of a run, in the wire form."""
    chance = random.Random(seed)
    for number in range(count // 2 if usage else count):
        at = _START + seed * 3_600 + 3.0 * number
        if usage:
            text = f"I look at the {chance.choice(_WORDS)} of part {number} now." if words else None
            size = 2_000 + 120 * number
            tokens = {"input_tokens": 300, "cache_read_tokens": size, "output_tokens": 60}
            told = {"model": "some-model", "cost_usd": 0.002, **tokens}
            yield {"kind": "llm", "name": "message", "text": text, "ts": at, **told}
        place = chance.randrange(number + 1) if number % 10 == 9 else number
        args = {"path": f"src/part_{place}.py", "lines": place % 7}
        answer = f"part {place}: {chance.choice(_WORDS)}\n" * 4
        yield {"kind": "tool", "name": f"tool_{place % 5}", "args": args, "result": answer, "ts": at + 1}


def lengths(count: int) -> list[int]:
    """Events of the runs of an archive."""
    chance = random.Random(11)
    return [min(2_000, max(4, round(chance.lognormvariate(3.7, 0.9)))) for _ in range(count)]


def least(works: list[Callable[[], object]]) -> list[float]:
    """Milliseconds of the processor, each in turn with the others, so that a slow moment hits all."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(_ROUNDS):
        for work, times in zip(works, taken, strict=True):
            begin = time.process_time()
            for _ in range(_TIMES):
                work()
            times.append((time.process_time() - begin) / _TIMES)
    return [1_000 * min(times) for times in taken]


def line(points: list[tuple[int, float]]) -> dict[str, float]:
    """A straight line through points: its height at no event, and its rise an event."""
    size = len(points)
    x = sum(at for at, _ in points) / size
    y = sum(ms for _, ms in points) / size
    rise = sum((at - x) * (ms - y) for at, ms in points) / sum((at - x) ** 2 for at, _ in points)
    return {"fixed_ms": round(y - rise * x, 3), "event_us": round(1_000 * rise, 1)}


def fixed(home: Path) -> dict[str, Any]:
    """What short runs cost beside their events."""
    result: dict[str, Any] = {}
    kinds = {"calls": {"usage": False}, "usage": {}, "words": {"words": True}}
    for kind, how in kinds.items():
        works: list[Callable[[], object]] = []
        for length in _LENGTHS:
            path = home / f"{kind}-{length}.jsonl"
            path.write_text("".join(json.dumps(wire) + "\n" for wire in wires(1, length, **how)))
            events = [event for event in open_trace(path) if isinstance(event, Event)]
            run = EventsRun(run_id="run", source="table", events=events)
            rows = [check_run(run)] * _BATCH
            works += [
                partial(check_run, run),
                partial(check_run, FileRun(str(path))),
                partial(result_batch, rows),
            ]
        times = least(works)
        at_hand, files, batches = times[::3], times[1::3], times[2::3]
        row_ms = [ms / _BATCH for ms in batches]
        result[kind] = {
            name: line([(length, ms + row) for length, ms, row in zip(_LENGTHS, each, row_ms, strict=True)])
            for name, each in (("events", at_hand), ("file", files))
        }
        print(f"fixed, {kind}: {result[kind]}")
    return result


def command(*arguments: str | Path) -> dict[str, float]:
    """An archive command in a process of its own: wall and processor time, and the most memory at once."""
    watch = (
        "import resource, runpy, sys, json\n"
        "try:\n    runpy.run_module('ebbtide', run_name='__main__')\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "import multiprocessing\n"
        "for child in multiprocessing.active_children():\n    child.join()\n"
        "own = next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1]\n"
        "children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "print(json.dumps([int(own), children]), file=sys.stderr)\n"
    )
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    line_ = [sys.executable, "-c", watch, "--no-config", "archive", "check", *map(str, arguments), "--json"]
    process = subprocess.run(line_, capture_output=True, encoding="utf-8", check=True)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = json.loads(process.stdout)
    own, largest_child = json.loads(process.stderr.splitlines()[-1])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "runs": summary["runs"],
        "events": summary["events"],
        "wall_s": round(wall, 2),
        "cpu_s": round(cpu, 2),
        "own_mb": round(own / 1_024, 1),
        "largest_child_mb": round(largest_child / 1_024, 1),
    }


def write_archive(folder: Path, count: int, *, longest: int = 0) -> None:
    """An archive as files, as rows of Parquet in no order, and as a table of SQLite."""
    (folder / "runs").mkdir(parents=True)
    rows: list[dict[str, Any]] = []
    sizes = [*lengths(count), *([longest] if longest else [])]
    for number, length in enumerate(sizes):
        lines = []
        for step, wire in enumerate(wires(number, length)):
            lines.append(json.dumps(wire) + "\n")
            args = json.dumps(wire["args"]) if "args" in wire else None
            rows.append({"run": f"run-{number:06}", "step": step, **wire, "args": args})
        (folder / "runs" / f"run-{number:06}.jsonl").write_text("".join(lines))
    random.Random(3).shuffle(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    pq.write_table(table, folder / "rows.parquet")
    (folder / "map.toml").write_text('format = "ebbtide"\nrun = "run"\norder = "step"\njson = ["args"]\n')
    with closing(sqlite3.connect(folder / "rows.db")) as database, database:
        database.execute(f"CREATE TABLE rows ({', '.join(names)})")
        marks = ", ".join("?" * len(names))
        cells = ([row.get(name) for name in names] for row in rows)
        database.executemany(f"INSERT INTO rows VALUES ({marks})", cells)  # noqa: S608 - marks


def checked(folder: Path, source: str, jobs: int) -> dict[str, float]:
    """One command over one form of an archive."""
    output = folder / "results.parquet"
    arguments: list[str | Path] = [str(folder / source), "-o", output, "--jobs", str(jobs)]
    if source != "runs":
        arguments += ["--rows", "--map", folder / "map.toml"]
    return command(*arguments)


def measure(count: int, longest: int) -> dict[str, Any]:
    """All of it.

    Args:
        count: Runs of the archive.
        longest: Events of the long run.
    """
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="ebbtide-archive-") as place:
        home = Path(place)
        result["fixed"] = fixed(home)
        write_archive(home / "whole", count)
        one = checked(home / "whole", "runs", 1)
        both = machine()
        two = checked(home / "whole", "runs", 2)
        result["pool"] = {
            "one": one,
            "two": two,
            "times": round(one["wall_s"] / two["wall_s"], 2),
            "machine": both,
            "processor": round(2 * one["cpu_s"] / two["cpu_s"], 2),
        }
        print(f"pool: {result['pool']}")
        rows = {source: checked(home / "whole", source, 1) for source in ("rows.parquet", "rows.db#rows")}
        result["rows"] = {
            name: {**row, "of_files": round(one["cpu_s"] / row["cpu_s"], 2)} for name, row in rows.items()
        }
        print(f"rows: {result['rows']}")
        write_archive(home / "quarter", count // 4)
        write_archive(home / "long", count // 4, longest=longest)
        result["longest"] = longest
        result["memory"] = {
            "a quarter, files": checked(home / "quarter", "runs", 2),
            "whole, files": two,
            "a quarter, rows": checked(home / "quarter", "rows.parquet", 1),
            "whole, rows": rows["rows.parquet"],
            "a quarter and a long run, files": checked(home / "long", "runs", 1),
            "a quarter and a long run, rows": checked(home / "long", "rows.parquet", 1),
        }
        for name, row in result["memory"].items():
            print(f"memory, {name}: {row}")
    return result
