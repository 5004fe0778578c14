"""Programs, servers and disks that fail while decisions are written: what was acknowledged and is lost.

    python -m benchmarks.crashes [--rounds 60] [--server-rounds 6]

Each round kills a program of eight writing threads with kill -9 at a random moment, opens the log again,
follows its chain, and looks for every decision that was acknowledged; every tenth round begins a new log.
Then a disk is filled up and given room again, and a PostgreSQL server is killed under eight threads that go
on writing. Half a migration, killed before and inside its statements, is in
tests/decision_log/test_migrating.py.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.campaign.kills import DECIDER, THREADS, killed
from benchmarks.measure import setup, write_result
from benchmarks.postgres_server import BenchmarkServer
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import Status
from ebbtide.errors import StoreError

A_LOG = 10  # rounds that write to one log


def main() -> None:
    """Do all of it, and write down what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60, help="programs that are killed")
    parser.add_argument("--server-rounds", type=int, default=6, help="times that the server is killed")
    options = parser.parse_args()
    result: dict[str, Any] = {"setup": setup("psycopg"), "threads": THREADS}
    with tempfile.TemporaryDirectory() as folder:
        result["killed_programs"] = killed_programs(Path(folder), options.rounds)
        print("killed programs:", result["killed_programs"], flush=True)
        result["full_disk"] = full_disk(Path(folder) / "disk")
        print("full disk:", result["full_disk"], flush=True)
    result["killed_servers"] = killed_servers(options.server_rounds)
    print("killed servers:", result["killed_servers"])
    write_result("crashes", result)


def killed_programs(folder: Path, rounds: int) -> dict[str, int]:
    """Programs killed while they write to a SQLite file; after each, the log is looked at."""
    chance = random.Random(16)
    acknowledged: set[str] = set()
    totals = {"rounds": rounds, "acknowledged": 0, "lost": 0, "recorded": 0, "verified": 0}
    for number in range(rounds):
        if number % A_LOG == 0:
            place, acknowledged = folder / f"log-{number}.db", set()
            DecisionLog.open(place).close()
        before = len(acknowledged)
        after_s = chance.uniform(0.01, 0.25)
        acknowledged |= set(killed(DECIDER, str(place), str(number), str(THREADS), after_s=after_s))
        totals["acknowledged"] += len(acknowledged) - before
        with DecisionLog.open(place) as log:
            kept = {decision.id for decision in log.iterate(status=Status.KEPT)}
            totals["lost"] += len(acknowledged - kept)
            totals["verified"] += log.verify().ok
            if number % A_LOG == A_LOG - 1 or number == rounds - 1:
                totals["recorded"] += len(kept)
                searched = {hit.decision.id for hit in log.search("store room", limit=len(kept) + 1)}
                totals["lost"] += len(acknowledged - searched)
    return totals


def full_disk(mount: Path, *, size_kb: int = 2_048) -> dict[str, Any]:
    """A small disk in memory that is filled up by writers, and given more room."""
    mount.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", f"size={size_kb}k", "none", str(mount)]
    if subprocess.run(options, check=False, capture_output=True).returncode:
        return {"skipped": "no disk can be mounted here"}
    try:
        return fill(mount / "log.db", lambda: _give_room(mount, size_kb * 8))
    finally:
        subprocess.run(["umount", str(mount)], check=True)  # noqa: S607 - likewise


def _give_room(mount: Path, size_kb: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size_kb}k", str(mount)], check=True)  # noqa: S607 - likewise


def fill(place: Path, give_room: Any) -> dict[str, Any]:
    """Write until there is no room, twenty times more, then with room again."""
    acknowledged: list[str | None] = []
    messages: set[str] = set()
    failed = 0
    with DecisionLog.open(place) as log:
        work = Deliberation(log)
        for number in range(100_000):
            try:
                text = f"Use store {number} as it has room, " + f"and more of it {number} " * 20
                acknowledged.append(work.record_decision(text, session=str(number)).id)
            except StoreError as error:
                messages.add(str(error).removeprefix(f"{place}: "))
                failed += 1
                if failed == 1:
                    before = len(acknowledged)
                if failed == 20:
                    break
        give_room()
        acknowledged.extend(
            work.record_decision(f"Use room {number} as it is there", session="r").id for number in range(200)
        )
        kept = {decision.id for decision in log.iterate()}
        verified = log.verify().ok
    return {
        "acknowledged_before": before,
        "acknowledged": len(acknowledged),
        "refused": failed,
        "messages": sorted(messages),
        "lost": len(set(acknowledged) - kept),
        "recorded": len(kept),
        "verified": verified,
    }


def killed_servers(rounds: int) -> dict[str, int]:
    """A PostgreSQL server that is killed under eight threads, which go on when it is back."""
    server, acknowledged, refused = BenchmarkServer(), [], [0]
    stopped = threading.Event()
    try:
        url = server.new_database()
        with DecisionLog.open(url, timeout_s=10) as log:
            work = Deliberation(log)

            def write(thread: int) -> None:
                number = 0
                while not stopped.is_set():
                    number += 1
                    session = f"{thread}-{number}"
                    try:
                        text = f"Use store {session} as it has room"
                        acknowledged.append(work.record_decision(text, session=session).id)
                    except StoreError:
                        refused[0] += 1
                        time.sleep(0.05)

            threads = [threading.Thread(target=write, args=(thread,)) for thread in range(THREADS)]
            for thread in threads:
                thread.start()
            for _ in range(rounds):
                time.sleep(0.7)
                server.kill()
                time.sleep(0.3)
                server.start()
            time.sleep(0.5)
            stopped.set()
            for thread in threads:
                thread.join()
            kept = {decision.id for decision in log.iterate()}
            verified = log.verify().ok
    finally:
        stopped.set()
        server.stop()
    return {
        "rounds": rounds,
        "acknowledged": len(acknowledged),
        "refused": refused[0],
        "lost": len(set(acknowledged) - kept),
        "recorded": len(kept),
        "verified": int(verified),
    }


if __name__ == "__main__":
    main()
