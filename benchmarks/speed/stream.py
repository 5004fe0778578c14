"""How soon readers of the stream have a verdict, from a hundred of them to ten thousand.

    python -m benchmarks.speed.stream [--readers N ...] [--events N]

A real service, and readers in two processes of their own on the same processors: an epoll, and nothing else
a connection. `delay_ms` is the time from the request of the event that makes a run stuck until a reader has
the verdict, over all readers and events, `last_ms` until the last reader has it, and `answer_ms` until the
request is answered. `cpu_ms_an_event` is what the service takes of a processor meanwhile, for the verdict and
for all news around it, which a reader has in `news_an_event` reads: `cpu_us_a_write` each. `reader_cpu_us` is
what one read takes, and `bare_us` the time of one write to a socket of loopback without a service: what has
to be done at least, reader by reader. `joined_s` is how long they took to connect.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.measure import setup, write_result
from benchmarks.speed.service import Caller, cpu_s, memory_mb

READERS = (100, 1_000, 5_000, 10_000)
_PROCESSES = 2
_LIMIT_MS = 50.0
_QUIET_S = 0.6  # without news, after which an event has no other one beside it
_LOOK_S = 0.002  # between two looks: a process that wakes for each connection takes the service its time
_LOST_S = 60.0  # after which a reader is taken for lost
_SERVICE = """
import json, sys
from ebbtide.service.web.server import serve_web
from ebbtide.service.web.service_settings import ServiceSettings
settings = ServiceSettings(port=0, readers=int(sys.argv[1]), rate=1e9, sessions=False)
announce = lambda url: print(json.dumps({"url": url}), flush=True)
serve_web(settings, sys.argv[2], announce=announce, open_log=None)
"""
_REQUEST = b"GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def raise_files() -> None:
    """As many sockets as the machine allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@contextmanager
def served(folder: Path, readers: int) -> Iterator[tuple[int, int]]:
    """A service with room for so many: its port, and its process."""
    environment = {**os.environ, "EBBTIDE_STATE": str(folder / "state")}
    with subprocess.Popen(
        [sys.executable, "-c", _SERVICE, str(readers), str(folder / "runs.db")],
        env=environment,
        stdout=subprocess.PIPE,
        preexec_fn=raise_files,  # noqa: PLW1509 - nothing else runs here meanwhile
    ) as process:
        try:
            assert process.stdout is not None
            yield int(json.loads(process.stdout.readline())["url"].rpartition(":")[2]), process.pid
        finally:
            process.terminate()


class Readers:
    """Some readers in one process.

    Args:
        port: Of the service.
        count: How many.
        orders: Where the names of runs come from that are waited for, and where the times go to.
    """

    def __init__(self, port: int, count: int, orders: Connection) -> None:
        raise_files()
        self._orders = orders
        self._poll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        self._tails: dict[int, bytes] = {}
        self._buffer = bytearray(65_536)  # one for all: to make one for each takes longer than to read
        for _ in range(count):
            self._join(port)

    def _join(self, port: int) -> None:
        connection = socket.create_connection(("127.0.0.1", port), timeout=_LOST_S)
        connection.sendall(_REQUEST)
        head = b""
        while b"event: begin" not in head:
            data = connection.recv(65_536)
            if not data:
                raise RuntimeError(f"refused: {head[:200]!r}")
            head += data
        connection.settimeout(0)
        self._sockets[connection.fileno()] = connection
        self._tails[connection.fileno()] = b""
        self._poll.register(connection, select.EPOLLIN)

    def serve(self) -> None:
        """Wait for the verdict of each run that is named, and then for silence, until no more come."""
        self._orders.send(len(self._sockets))
        while (run := self._orders.recv()) is not None:
            before = time.process_time()
            times, reads = self._until_all_have(f'"run_id":"{run}","verdict"'.encode())
            spent = time.process_time() - before
            self._orders.send((times, spent / max(1, reads), reads))

    def _until_all_have(self, mark: bytes) -> tuple[list[float], int]:
        waiting, times, reads = set(self._sockets), [], 0
        deadline, latest = time.monotonic() + _LOST_S, time.monotonic()
        while time.monotonic() < deadline and (waiting or time.monotonic() < latest + _QUIET_S):
            time.sleep(_LOOK_S)
            for number, _ in self._poll.poll(0.1, 1024):
                size = self._sockets[number].recv_into(self._buffer)
                latest = time.monotonic()
                reads += 1
                if number not in waiting:
                    continue
                data = self._tails[number] + self._buffer[:size]
                if mark in data:
                    waiting.discard(number)
                    times.append(latest)
                self._tails[number] = data[-200:]
        return times, reads


def read_in_process(port: int, count: int, orders: Connection) -> None:
    """One process of readers."""
    Readers(port, count, orders).serve()


def tipping(caller: Caller, run: str) -> float:
    """Make a run stuck, by one event more than it takes; when the request began that did so."""
    for seq in range(1, 30):
        call = {"seq": seq, "kind": "tool", "name": "ls", "args": {}, "result": "a.txt"}
        body, start = json.dumps(call).encode(), time.monotonic()
        answer = json.loads(caller.ask("POST", f"/v1/runs/{run}/events", body))
        if answer["verdict"]["action"] != "allow":
            return start
    raise RuntimeError("no verdict")


def measured(folder: Path, readers: int, events: int) -> dict[str, Any]:
    """The times of so many readers."""
    context = multiprocessing.get_context("spawn")
    # One address may have half of all places, and these have one.
    with served(folder, 2 * readers) as (port, pid):
        begin = time.monotonic()
        pipes, processes = [], []
        for number in range(_PROCESSES):
            ours, theirs = context.Pipe()
            count = readers // _PROCESSES + (number < readers % _PROCESSES)
            process = context.Process(target=read_in_process, args=(port, count, theirs), daemon=True)
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        assert sum(pipe.recv() for pipe in pipes) == readers
        joined = time.monotonic() - begin
        delays: list[float] = []
        last: list[float] = []
        answers: list[float] = []
        spent, writes, reads = 0.0, 0, []
        for number in range(events + 1):
            run = f"run-{number}"
            for pipe in pipes:
                pipe.send(run)
            before = cpu_s(pid)
            start = tipping(Caller(port), run)  # one that stays idle for long would be closed
            answers.append(1e3 * (time.monotonic() - start))
            times = []
            for pipe in pipes:
                some, each, count = pipe.recv()
                times += [1e3 * (at - start) for at in some]
                reads.append(1e6 * each)
                writes += count
            if number == 0:  # what is loaded with the first
                answers.clear()
                writes = 0
                continue
            assert len(times) == readers, f"{readers - len(times)} readers are lost"
            spent += cpu_s(pid) - before
            delays += times
            last.append(max(times))
        for pipe in pipes:
            pipe.send(None)
        for process in processes:
            process.join()
        cuts = quantiles(delays, n=100)
        return {
            "readers": readers,
            "events": events,
            "joined_s": round(joined, 1),
            "delay_ms": {
                "median": round(median(delays), 1),
                "p95": round(cuts[94], 1),
                "p99": round(cuts[98], 1),
                "under_50": round(sum(delay < _LIMIT_MS for delay in delays) / len(delays), 4),
            },
            "last_ms": {"median": round(median(last), 1), "longest": round(max(last), 1)},
            "answer_ms": round(median(answers), 1),
            "cpu_ms_an_event": round(1e3 * spent / events, 1),
            "news_an_event": round(writes / events / readers, 1),
            "cpu_us_a_write": round(1e6 * spent / writes, 1),
            "reader_cpu_us": round(median(reads), 1),
            "memory_mb": memory_mb(pid),
        }


def bare_us(count: int = 1000, size: int = 400) -> float:
    """Microseconds that one write to a socket of loopback takes, beside its reader."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        pairs = []
        for _ in range(count):
            there = socket.create_connection(server.getsockname())
            pairs.append((server.accept()[0], there))
        wire, taken = b"x" * size, []
        for _ in range(5):
            start = time.perf_counter()
            for ours, _ in pairs:
                ours.send(wire)
            taken.append(1e6 * (time.perf_counter() - start) / count)
        for pair in pairs:
            for each in pair:
                each.close()
    return round(min(taken), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--readers", type=int, nargs="+", default=READERS)
    parser.add_argument("--events", type=int, default=20)
    parser.add_argument("--dry", action="store_true", help="write no result")
    options = parser.parse_args()
    raise_files()
    result: dict[str, Any] = {"setup": setup("uvicorn", "fastapi"), "load": round(os.getloadavg()[0], 1)}
    result["bare_us"] = bare_us()
    print("bare_us", result["bare_us"], flush=True)
    result["rows"] = []
    for readers in options.readers:
        with tempfile.TemporaryDirectory() as folder:
            result["rows"].append(measured(Path(folder), readers, options.events))
        print(json.dumps(result["rows"][-1]), flush=True)
    if not options.dry:
        write_result("speed-stream", result)


if __name__ == "__main__":
    main()
